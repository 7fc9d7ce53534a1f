const hexOf = (bytes: Buffer) => bytes.toString('hex').match(/../g) ?? [];
const escapedBy = (value: string, written: (code: number) => string) => Array.from(value, (c) => written(c.codePointAt(0) ?? 0)).join('');
const wideOf = (value: string) => Buffer.from(value, 'utf16le');
const quotedPrintable = (bytes: Buffer) =>
  Array.from(bytes, (byte, i) => {
    const plain = byte >= 33 && byte <= 126 && byte !== 61;
    return `${i % 20 === 19 ? '=\r\n' : ''}${plain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`}`;
  }).join('');
export const indented = (text: string, width: number) => (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\n      ');

/** How writers write a text, by what they are. */
export const SPELLINGS: Record<string, (value: string, bytes: Buffer) => string> = {
  plain: (value) => value,
  JSON: (value) => JSON.stringify({ v: value }),
  'JSON in JSON in JSON': (value) => JSON.stringify(JSON.stringify(JSON.stringify(value))),
  'JSON of PHP': (value) => JSON.stringify({ v: value }).replaceAll('/', '\\/'),
  'JSON in ASCII': (value) =>
    JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'JSON of Go': (value) => JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`),
  '\\uXXXX': (value) => Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  '\\u{X}': (value) => escapedBy(value, (code) => `\\u{${code.toString(16)}}`),
  '\\UXXXXXXXX': (value) => escapedBy(value, (code) => `\\U${code.toString(16).padStart(8, '0')}`),
  '\\xXX': (_, bytes) =>
    hexOf(bytes)
      .map((pair) => `\\x${pair}`)
      .join(''),
  '\\x{XX}': (_, bytes) =>
    hexOf(bytes)
      .map((pair) => `\\x{${pair}}`)
      .join(''),
  octal: (_, bytes) => Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  form: (value) => new URLSearchParams({ v: value }).toString(),
  percent: (value) => encodeURIComponent(value),
  'percent, twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'percent, every byte': (_, bytes) =>
    hexOf(bytes)
      .map((pair) => `%${pair}`)
      .join(''),
  'percent, here and there': (_, bytes) =>
    Array.from(bytes, (byte, i) =>
      i % 3 && byte > 32 && byte < 127 && byte !== 37 ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`,
    ).join(''),
  '%uXXXX': (value) =>
    Array.from({ length: value.length }, (_, i) => `%u${value.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join('')
      .replaceAll(/%ud83d%ude00/g, '%F0%9F%98%80'),
  'HTML, named': (value) =>
    value.replace(
      /[&<>"'/+=éè]/g,
      (c) =>
        ({
          '&': '&amp;',
          '<': '&lt;',
          '>': '&gt;',
          '"': '&quot;',
          "'": '&#39;',
          '/': '&sol;',
          '+': '&plus;',
          '=': '&equals;',
          é: '&eacute;',
        })[c] ?? c,
    ),
  'HTML, decimal': (value) => escapedBy(value, (code) => `&#${code};`),
  'HTML, hex': (value) => escapedBy(value, (code) => `&#x${code.toString(16).padStart(4, '0')};`),
  hex: (_, bytes) => bytes.toString('hex'),
  'hex in capitals behind a digit': (_, bytes) => `0${bytes.toString('hex').toUpperCase()}`,
  'hex with colons': (_, bytes) => hexOf(bytes).join(':'),
  'hex with blanks, four digits each': (_, bytes) => (bytes.toString('hex').match(/.{1,4}/g) ?? []).join(' '),
  'hex with hyphens': (_, bytes) => hexOf(bytes).join('-').toUpperCase(),
  'hex of C': (_, bytes) =>
    `{ ${hexOf(bytes)
      .map((pair) => `0x${pair}`)
      .join(', ')} }`,
  'bytes of Node': (_, bytes) => JSON.stringify(bytes),
  'bytes of a typed array': (_, bytes) => JSON.stringify(new Uint8Array(bytes)),
  'bytes of Java': (_, bytes) => `[${Array.from(new Int8Array(bytes)).join(', ')}]`,
  base64: (_, bytes) => bytes.toString('base64'),
  'base64, twice': (_, bytes) => Buffer.from(bytes.toString('base64')).toString('base64'),
  base64url: (_, bytes) => bytes.toString('base64url'),
  'base64 of MIME': (_, bytes) => bytes.toString('base64').replace(/.{10}/g, '$&\r\n'),
  'base64, indented': (_, bytes) => indented(bytes.toString('base64'), 8),
  'base64 in JSON, by lines': (_, bytes) => JSON.stringify(bytes.toString('base64').replace(/.{10}/g, '$&\n')),
  'base64 of JSON': (value) => Buffer.from(JSON.stringify({ user: 'u', password: value })).toString('base64'),
  'base64 of hex': (_, bytes) => Buffer.from(bytes.toString('hex')).toString('base64'),
  'hex of base64': (_, bytes) => Buffer.from(bytes.toString('base64')).toString('hex'),
  'UTF-16': (value) => wideOf(value).toString('latin1'),
  'base64 of UTF-16': (value) => wideOf(value).toString('base64'),
  'base64 of UTF-16, big end first': (value) => wideOf(value).swap16().toString('base64'),
  'hex of UTF-16': (value) => wideOf(value).toString('hex'),
  'quoted-printable': (_, bytes) => quotedPrintable(bytes),
  'YAML, a block': (value) => `key: |\n    ${value.replaceAll('\n', '\n    ')}`,
  'YAML, folded in quotes': (value) =>
    `key: "${JSON.stringify(value)
      .slice(1, -1)
      .replace(/(^.{4})/, '$1\\\n  ')}"`,
  'CSV and SQL': (value) => `"${value.replaceAll('"', '""')}",'${value.replaceAll("'", "''")}'`,
  'other case': (value) => value.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
};
