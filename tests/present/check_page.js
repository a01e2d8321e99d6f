// Runs in a page that holds one frame per page and width. Finds text that overlaps other text, boxes that stick
// out of the page, and errors that the page's own script reported. The result goes into #result as plain lines.
'use strict';

function visible(element) {
  const style = element.ownerDocument.defaultView.getComputedStyle(element);
  return style.visibility !== 'hidden' && style.display !== 'none' && Number(style.opacity) > 0.01;
}

// One box per line of text; SVG labels are drawn twice, the halo below does not count.
function textBoxes(page) {
  const boxes = [];
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !visible(parent) || parent.closest('script,style,title,desc,option,.halo')) continue;
    const range = page.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width < 2 || rect.height < 2) continue;
      // letters do not fill their line: a quarter of the height, and a pixel at the sides, are air
      const air = Math.min(rect.width, rect.height) * 0.25;
      boxes.push({left: rect.left + 1, right: rect.right - 1, top: rect.top + air, bottom: rect.bottom - air,
                  text: node.data.trim().slice(0, 40), parent});
    }
  }
  return boxes;
}

// A box inside something that scrolls or clips is seen only as far as that shows it.
function clipped(box) {
  for (let at = box.parent; at; at = at.parentElement) {
    const style = at.ownerDocument.defaultView.getComputedStyle(at);
    if (style.overflowX === 'visible' || at.namespaceURI !== 'http://www.w3.org/1999/xhtml') continue;
    const rect = at.getBoundingClientRect();
    box.left = Math.max(box.left, rect.left);
    box.right = Math.min(box.right, rect.right);
  }
  return box;
}

function overlaps(boxes) {
  const found = [];
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j++) {
      const wide = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
      const high = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
      if (wide > 2 && high > 1) found.push(`"${boxes[i].text}" and "${boxes[j].text}" overlap`);
    }
  }
  return found;
}

function problems(frame) {
  const page = frame.contentDocument, view = frame.contentWindow, width = page.documentElement.clientWidth;
  const found = view.rfErrors.slice();
  for (const folded of page.querySelectorAll('details')) folded.open = true; // what is folded away must fit, too
  if (page.documentElement.scrollWidth > width)
    found.push(`the page is ${page.documentElement.scrollWidth} wide, the window ${width}`);
  const boxes = textBoxes(page).map(clipped).filter(box => box.right > box.left);
  for (const box of boxes) if (box.right > width + 1) found.push(`"${box.text}" ends at ${Math.round(box.right)}`);
  for (const svg of page.querySelectorAll('svg')) {
    const frameBox = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const rect = text.getBoundingClientRect();
      if (rect.left < frameBox.left - 2 || rect.right > frameBox.right + 2 || rect.top < frameBox.top - 2 ||
          rect.bottom > frameBox.bottom + 2)
        found.push(`"${text.textContent.slice(0, 40)}" leaves its picture`);
      const size = parseFloat(page.defaultView.getComputedStyle(text).fontSize) * svg.getScreenCTM().a;
      if (rect.width && size < 8) found.push(`"${text.textContent.slice(0, 40)}" has letters of ${size.toFixed(1)} px`);
    }
  }
  for (const image of page.images) if (!image.naturalWidth) found.push(`picture ${image.getAttribute('src')} is broken`);
  if (boxes.length < 3) found.push('hardly any text');
  return found.concat(overlaps(boxes));
}

function load(page, width) {
  return new Promise(done => {
    const frame = document.createElement('iframe');
    frame.style.cssText = `width:${width}px;height:900px;border:0`;
    frame.onload = () => setTimeout(() => done(frame), 50);
    frame.src = page;
    document.body.appendChild(frame);
  });
}

(async function () {
  const lines = [];
  for (const page of document.body.dataset.pages.split(' ')) {
    for (const width of [1280, 390]) {
      const frame = await load(page, width);
      let found;
      try { found = problems(frame); } catch (error) { found = ['the check itself failed: ' + error]; }
      frame.remove();
      lines.push(`PAGE ${page} ${width} ${found.length}`);
      for (const line of found.slice(0, 12)) lines.push(`  ${page} at ${width}: ${line}`);
    }
  }
  lines.push('END');
  document.getElementById('result').textContent = lines.join('\n');
})();
