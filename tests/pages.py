"""Pages as a reader's program sees them."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page links to and shows, and its words."""

    def __init__(self, path):
        super().__init__()
        self.files, self.images, self.ids, self.anchors, self.words = [], [], set(), [], ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids.add(found.get("id"))
        if tag == "img":
            self.images.append(found)
        for link in (found.get("src"), found.get("href")):
            if link and link.startswith("#"):
                self.anchors.append(link[1:])
            elif link:
                self.files.append(link)

    def handle_data(self, data):
        self.words += data
