// Node's decoder skips what it doesn't know, takes either alphabet and ignores trailing bits, so one value would have many spellings.

/** The bytes of standard base64 with its padding, or undefined for anything but their one spelling. */
export const decodeBase64 = (text: string): Buffer | undefined => canonical(text, 'base64');

/** The bytes of base64url without padding, or undefined for anything but their one spelling. */
export const decodeBase64url = (text: string): Buffer | undefined => canonical(text, 'base64url');

function canonical(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}
