/** Bodies that cost the most to read, each by its media type and as a text of about `size` bytes. */
export type HostileBody = { type: string; text: (size: number) => string };

const repeated =
  (piece: string, before = '', behind = '') =>
  (size: number): string =>
    before + piece.repeat(Math.max(0, Math.floor((size - before.length - behind.length) / piece.length))) + behind;
const json = (text: HostileBody['text']): HostileBody => ({ type: 'application/json', text });
const form = (text: HostileBody['text']): HostileBody => ({ type: 'application/x-www-form-urlencoded', text });
const multipart = (text: HostileBody['text']): HostileBody => ({ type: 'multipart/form-data; boundary=x', text });
const plain = (text: HostileBody['text']): HostileBody => ({ type: 'text/plain', text });

export const HOSTILE_BODIES: Readonly<Record<string, HostileBody>> = {
  numbers: json(repeated('1,', '{"a":[', '1]}')),
  'long numbers': json(repeated('1', '{"a":', '}')),
  objects: json(repeated('{"a":1},', '{"a":[', '1]}')),
  'objects of escaped names': json(repeated('{"\\u0061":1},', '{"a":[', '1]}')),
  members: json((size) => `{${Array.from({ length: size / 14 }, (_, i) => `"k${i}":1`).join(',')}}`),
  words: json(repeated('null,', '{"a":[', '1]}')),
  blanks: json(repeated('1 , ', '{"a":[', '1]}')),
  'nothing but blanks': json(repeated(' ', '{"a":1', '}')),
  'nothing but depth': json(repeated('{"a":')),
  'depth again and again': json(repeated('[[[[[[[[1]]]]]]]],', '{"a":[', '1]}')),
  escapes: json(repeated('\\u00e9', '{"a":"', '"}')),
  'characters of two bytes': json(repeated('é', '{"a":"', '"}')),
  'a name without end': json(repeated('\\u0061', '{"', '":1}')),
  'strings with braces': json(repeated('"{{a",', '{"a":[', '"{{"]}')),
  'names with braces': json((size) => `{${Array.from({ length: size / 16 }, (_, i) => `"{{k${i}":1`).join(',')}}`),
  'a string of braces': json(repeated('{{a ', '{"a":"', '"}')),
  'a string of single braces': json(repeated('{ ', '{"a":"', '"}')),
  'a string of escaped braces': json(repeated('\\u007b', '{"a":"', '"}')),
  placeholders: json(repeated('{{secret:A}}', '{"a":"', '"}')),
  'variables of no call': json(repeated('{{vars.a}}', '{"a":"', '"}')),
  fields: form(repeated('&')),
  'as many fields as may be': form((size) => `${`a=${'%41'.repeat(size / 150_000 - 1)}&`.repeat(49_000)}a={{`),
  'fields in braces': form(repeated('a={{&')),
  'one field of pluses': form(repeated('+', 'a={{')),
  'one field of escapes': form(repeated('%7B', 'a=')),
  'one field of characters to escape': form(repeated('~', 'a={{var:a}}')),
  'one field of percent signs': form(repeated('%', 'a=')),
  'one field of ordinary escapes': form(repeated('%41', 'a=')),
  'a name of pluses': form(repeated('+')),
  'a name of escapes': form(repeated('%41')),
  parts: multipart(repeated('--x\r\n\r\n{{a}}\r\n')),
  'one part': multipart(repeated('{{a}}', '--x\r\n\r\n')),
  'a part of headers': multipart(repeated('a:b\r\n', '--x\r\n', '\r\n\r\n{{a}}')),
  braces: plain(repeated('{')),
  'braces and blanks': plain(repeated(`{{${' '.repeat(63)}`)),
};
