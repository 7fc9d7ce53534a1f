/**
 * Replaces every value, in each form an upstream may echo it in, by the name of its secret (interface rule 30 §7.4). For everything that is
 * stored about a call. Values shorter than six characters would take half the text with them and are left out.
 */
export function redactSecrets(text: string, secrets: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [name, value] of secrets) {
    if (value.length < 6) continue;
    for (const form of formsOf(value)) clean = clean.replaceAll(form, `[redacted:secret:${name}]`);
  }
  return clean;
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const unpadded = bytes.toString('base64').replace(/=+$/, '');
  return [
    ...new Set([
      value,
      unpadded,
      bytes.toString('base64url'),
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      bytes.toString('hex'),
    ]),
  ].sort((a, b) => b.length - a.length);
}
