#!/bin/sh
# Shell user: a spreadsheet with a probability and an outcome, yes or no.
set -e
cd "$(mktemp -d)"
awk 'BEGIN { srand(7); print "probability,default"
  for (i = 0; i < 600; i++) { p = rand() ^ 2; print p "," (rand() < p ? "yes" : "no") } }' > loans.csv

halfmax tune loans.csv --positive yes --out thresholds.json
halfmax assess loans.csv --positive yes
halfmax tune loans.csv --positive yes --cost fp=1,fn=10      # a missed default costs ten times more
halfmax tune loans.csv --positive yes --metric recall --max-predicted 50   # we can call 50 people
halfmax apply thresholds.json loans.csv > predicted.csv
head -n 3 predicted.csv
