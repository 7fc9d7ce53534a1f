export type CurlCall = {
  method: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: object | undefined;
  /** Sent as it is, in place of `body`. */
  text?: string | undefined;
  /** Options that build the body from a form or a file, in place of both. */
  options?: readonly string[] | undefined;
};

/**
 * A call as one shell command. A credential that is a shell variable is put in double quotes so that it expands; everything else is quoted
 * so that no shell reads anything into it.
 */
export function curlOf({ method, url, headers = {}, body, text, options = [] }: CurlCall): string {
  // Without -g curl takes brackets and braces for a list of addresses.
  const curl = /[[\]{}]/.test(url) ? 'curl -g' : 'curl';
  const sends = body !== undefined || text !== undefined || options.length > 0;
  // A HEAD that -X asks for would wait for a body.
  const named = method === 'HEAD' && !sends ? ' -I' : method === 'GET' && !sends ? '' : ` -X ${quoted(method)}`;
  const parts = [`${curl}${named} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${header(name, value)}`);
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`);
  // A text that begins with @ would name a file.
  if (text !== undefined) parts.push(`${text.startsWith('@') ? '--data-raw' : '-d'} ${quoted(text)}`);
  for (let at = 0; at < options.length; at += 2) parts.push(`${options[at]} ${quoted(options[at + 1] ?? '')}`);
  if (Object.keys(headers).some((name) => /^accept-encoding$/i.test(name))) parts.push('--compressed');
  return parts.join(' \\\n  ');
}

/**
 * Whether a header's value is to be read from the environment. Only a header of a credential is, and only when it is nothing but the variable: other
 * values may be a caller's (an environment that was asked for, in a line of the log), and nobody's machine must run or give away anything for them.
 */
export const isVariable = (name: string, value: string): boolean =>
  /^(?:authorization|x-svc-key)$/i.test(name) && /^(?:Bearer )?\$[A-Z][A-Z0-9_]*$/.test(value);

const header = (name: string, value: string) => (isVariable(name, value) ? `"${name}: ${value}"` : quoted(`${name}: ${value}`));

/** Bare when nothing in it means anything to a shell. */
export const quoted = (text: string) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
