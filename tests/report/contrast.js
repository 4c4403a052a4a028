// How many texts can be seen, and those whose contrast is below what WCAG 2.1 AA asks for.
() => {
  const parsed = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    const most = text.startsWith("color(") ? 255 : 1;
    return { rgb: [r * most, g * most, b * most], a };
  };
  const over = (top, below) => top.rgb.map((v, i) => v * top.a + below[i] * (1 - top.a));
  const backdrop = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      layers.push(parsed(getComputedStyle(one).backgroundColor));
      if (layers.at(-1).a === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (element, colour) => {
    const below = backdrop(element), top = parsed(colour);
    for (let one = element; one; one = one.parentElement) {
      top.a *= Number(getComputedStyle(one).opacity);
    }
    const [high, low] = [light(over(top, below)), light(below)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const poor = new Set();
  const check = (element, colour, words) => {
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = ratio(element, colour);
    const name = `${element.tagName}.${element.getAttribute("class") ?? ""}`;
    if (found < (large ? 3 : 4.5)) poor.add(`${found.toFixed(2)} ${name} ${words.trim().slice(0, 40)}`);
  };
  const left = "[disabled], .disabled, [aria-disabled=true], script, style, noscript, option";
  const seen = (element) => !element.closest(left)
    && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !seen(element)) continue;
    const { fill, color } = getComputedStyle(element);
    check(element, element instanceof SVGElement ? fill : color, walker.currentNode.textContent);
    count += 1;
  }
  for (const element of document.querySelectorAll("input:not([type=range]), select")) {
    if (!seen(element)) continue;
    check(element, getComputedStyle(element).color, element.id || element.type);
    const { color } = getComputedStyle(element, "::placeholder");
    if (element.placeholder) check(element, color, element.placeholder);
  }
  return [count, [...poor].sort()];
}
