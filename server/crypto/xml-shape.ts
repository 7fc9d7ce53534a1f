/**
 * What a document may have at most before a parser, a canonicalization or an XPath works on it. `scope` is the namespaces in scope, counted once more at
 * each element: a canonicalization looks at all of them there.
 */
export type XmlBounds = { elements: number; depth: number; attributes: number; namespaces: number; scope: number };

/** Comments, CDATA and processing instructions: what stands in them is text, quotes and brackets too. */
const NO_ELEMENTS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

/** What of a document is over its bounds, in words that follow "has"; undefined when it fits. One pass, whatever the text is. */
export function overBounds(xml: string, bounds: XmlBounds): string | undefined {
  const counted = { elements: 0, attributes: 0, namespaces: 0, scope: 0 };
  /** The declarations of each open element, and their sum. */
  const open: number[] = [];
  let declared = 0;
  for (let at = xml.indexOf('<'); at !== -1; at = xml.indexOf('<', at)) {
    const [begin = '', end = ''] = NO_ELEMENTS.find(([begins]) => xml.startsWith(begins, at)) ?? [];
    if (begin !== '') {
      const closed = xml.indexOf(end, at + begin.length);
      if (closed === -1) return `a ${begin} that does not end`;
      at = closed + end.length;
      continue;
    }
    const tag = readTag(xml, at + 1);
    if (!tag) return 'a tag that does not end';
    at = tag.end;
    if (tag.kind === 'end') declared -= open.pop() ?? 0;
    if (tag.kind !== 'start' && tag.kind !== 'empty') continue;
    counted.elements++;
    counted.attributes += tag.attributes;
    counted.namespaces += tag.namespaces;
    counted.scope += declared + tag.namespaces;
    if (counted.elements > bounds.elements) return `more than ${bounds.elements} elements`;
    if (counted.attributes > bounds.attributes) return `more than ${bounds.attributes} attributes`;
    if (counted.namespaces > bounds.namespaces) return `more than ${bounds.namespaces} namespace declarations`;
    if (counted.scope > bounds.scope) return 'too many namespaces in scope of its elements';
    if (tag.kind === 'empty') continue;
    declared += tag.namespaces;
    if (open.push(tag.namespaces) > bounds.depth) return `elements more than ${bounds.depth} deep`;
  }
  return undefined;
}

type Tag = { kind: 'start' | 'end' | 'empty' | 'other'; attributes: number; namespaces: number; end: number };

/** A tag from behind its `<`, quotes respected; undefined when it does not end, or another begins inside of it. */
function readTag(xml: string, from: number): Tag | undefined {
  const first = xml[from];
  let [attributes, namespaces, quote, name] = [0, 0, '', from];
  for (let at = from; at < xml.length; at++) {
    const c = xml[at] as string;
    if (quote !== '') {
      if (c === quote) quote = '';
      else if (c === '<') return undefined;
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '<') return undefined;
    else if (c === '=') {
      attributes++;
      if (xml.startsWith('xmlns', name)) namespaces++;
    } else if (c === ' ' || c === '\n' || c === '\t' || c === '\r') name = at + 1;
    else if (c === '>') {
      const kind = first === '/' ? 'end' : first === '!' ? 'other' : xml[at - 1] === '/' ? 'empty' : 'start';
      return { kind, attributes: attributes - namespaces, namespaces, end: at + 1 };
    }
  }
  return undefined;
}
