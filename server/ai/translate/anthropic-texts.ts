import { isObject, type JsonObject, objectsOf, textAt } from '../json.ts';

/** A part of a tool's result as text, where it is one in another form; undefined for images and files. */
export function textOfResultPart(part: JsonObject): string | undefined {
  switch (part.type) {
    case 'text':
      return textAt(part, 'text') ?? '';
    case 'tool_reference':
      // All tools are offered from the start at providers that load none later.
      return `The tool ${textAt(part, 'tool_name') ?? ''} is available.`;
    case 'search_result':
      return [textAt(part, 'title'), textAt(part, 'source'), ...objectsOf(part.content).map((block) => textAt(block, 'text'))]
        .filter((text) => text !== undefined)
        .join('\n');
    case 'document':
      return isObject(part.source) && part.source.type === 'text' ? textAt(part.source, 'data') : undefined;
    default:
      return undefined;
  }
}
