import { isObject, type JsonObject, listOf } from '../json.ts';
import type { TextRef, TextRole } from './adapter.ts';
import { argumentTexts, leaves, textIn } from './texts.ts';

/** Members that hold no free text, by the reason why nothing replaces them. Everything else in a message is searched, whatever its type. */
export const OPAQUE_MEMBERS = {
  'a fixed word of the interface': [
    ...[
      'type',
      'role',
      'status',
      'object',
      'detail',
      'format',
      'model',
      'finish_reason',
      'finishReason',
      'stop_reason',
      'stopReason',
      'service_tier',
      'system_fingerprint',
      'provider',
    ],
    ...['media_type', 'mediaType', 'mime_type', 'mimeType'],
  ],
  'the provider made it, and refuses it when it is changed': [
    ...['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content', 'encrypted_index', 'redactedContent', 'obfuscation'],
  ],
  'somebody fetches it, and another address leads elsewhere': [...['url', 'uri', 'image_url', 'file_url', 'fileUri', 'file_uri']],
  'base64 data': ['inlineData', 'inline_data'],
  'it says which tool is meant': ['tool_name', 'server_name', 'server_label'],
  'settings and definitions, which are not part of the conversation': [
    ...['cache_control', 'cachePoint', 's3Location', 'usage', 'logprobs', 'logprobsResult', 'tools', 'definition', 'input_schema'],
  ],
} as const;

const OPAQUE: ReadonlySet<string> = new Set(Object.values(OPAQUE_MEMBERS).flat());
const SETTINGS: ReadonlySet<string> = new Set(OPAQUE_MEMBERS['settings and definitions, which are not part of the conversation']);
/** `id`, `call_id`, `file_ids`, `toolUseId`. */
const IDENTIFIER = /(?:^|_)ids?$|Ids?$/;
/** Base64 in these however short it is. */
const DATA: ReadonlySet<string> = new Set(['data', 'bytes', 'b64_json', 'file_data', 'image', 'images', 'partial_image_b64']);
const BASE64 = /^[A-Za-z0-9+/_=-]+$/;
/** A text of so many characters has a space or a mark among them. */
const SURELY_DATA = 256;

const CALLS: ReadonlySet<string> = new Set(['function', 'custom', 'functionCall', 'functionResponse', 'function_call', 'toolUse']);
const INPUTS = ['arguments', 'input', 'args', 'response'];
const INPUT: ReadonlySet<string> = new Set(INPUTS);

/** The texts of a message that its shape knows, and behind them all others: of unknown parts, titles, file names and so on. One pass over the message. */
export function withRest(role: TextRole, root: unknown, known: TextRef[]): TextRef[] {
  if (!isObject(root) && !Array.isArray(root)) return known;
  const places = new Map<object, Set<string>>();
  for (const { at } of known) {
    if (!at) continue;
    const members = places.get(at.holder);
    if (members) members.add(at.member);
    else places.set(at.holder, new Set([at.member]));
  }
  const isKnown = ({ holder, member }: NonNullable<TextRef['at']>) => places.get(holder)?.has(member) === true;
  const rest: TextRef[] = [];
  const walk = (holder: JsonObject | unknown[], name: string, role: TextRole): void => {
    for (const [key, value] of Object.entries(holder)) {
      const isText = typeof value === 'string';
      if (value === '' || (!isText && (typeof value !== 'object' || value === null))) continue;
      const member = Array.isArray(holder) ? name : key;
      if (isText && (isKnown({ holder, member: key }) || isData(member, value))) continue;
      if (isText ? isOpaque(holder, member, name) : SETTINGS.has(member)) continue;
      const within = roleOf(role, member);
      if (isText)
        rest.push(...(member === 'arguments' ? argumentTexts(holder as JsonObject, key) : textIn(within, holder as JsonObject, key)));
      else if (INPUT.has(member) && (isObject(value) || Array.isArray(value)))
        rest.push(...leaves(within, value as JsonObject).filter(({ at, text }) => text !== '' && !(at && isKnown(at))));
      else if (isObject(value) || Array.isArray(value)) walk(value as JsonObject | unknown[], member, within);
    }
  };
  walk(root, '', role);
  return rest.length === 0 ? known : [...known, ...rest];
}

/** Texts of the items of a list; a server may also take strings among them. */
export const textsOfItems = (role: TextRole, list: unknown, textsOf: (item: unknown) => TextRef[]): TextRef[] =>
  listOf(list).flatMap((item, index) => (typeof item === 'string' ? textIn(role, list as JsonObject, String(index)) : textsOf(item)));

/** Whether nothing replaces this string. A `name` is one of a tool in a call, and else a name of somebody or something. */
function isOpaque(holder: JsonObject | unknown[], member: string, parent: string): boolean {
  if (OPAQUE.has(member) || IDENTIFIER.test(member)) return true;
  return member === 'name' && (CALLS.has(parent) || INPUTS.some((one) => Object.hasOwn(holder, one)));
}

/** Base64, or a data URL. */
function isData(member: string, text: string): boolean {
  const head = text.slice(0, SURELY_DATA);
  if (head.startsWith('data:')) return head.includes(';base64,');
  return (text.length >= SURELY_DATA || DATA.has(member)) && BASE64.test(head);
}

function roleOf(role: TextRole, member: string): TextRole {
  if (INPUT.has(member)) return member === 'response' ? 'tool_result' : 'tool_args';
  if (member === 'output' || member === 'outputs' || member === 'results' || member === 'toolResult') return 'tool_result';
  return role === 'assistant' && (member.startsWith('reasoning') || member === 'thinking') ? 'reasoning' : role;
}
