export type CurlCall = { method: string; url: string; headers?: Readonly<Record<string, string>>; body?: object | undefined };

/**
 * A call as one shell command. A credential that is a shell variable is put in double quotes so that it expands; everything else is quoted
 * so that no shell reads anything into it.
 */
export function curlOf({ method, url, headers = {}, body }: CurlCall): string {
  // Without -g curl takes brackets and braces for a list of addresses.
  const curl = /[[\]{}]/.test(url) ? 'curl -g' : 'curl';
  const parts = [method === 'GET' ? `${curl} ${quoted(url)}` : `${curl} -X ${quoted(method)} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${header(name, value)}`);
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`);
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
const quoted = (text: string) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
