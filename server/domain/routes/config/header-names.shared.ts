/** Of a header that the gateway sets or that says how the message is framed: a route can't send it (interface rule 10 §7.1). */
const REFUSED_HEADER =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|forwarded|via|proxy-.*|x-svc-.*)$/i;
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** What is wrong with the name of an injected header; undefined when nothing is. */
export function headerNameProblem(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name';
  return REFUSED_HEADER.test(name) ? "is set by the gateway and can't be injected" : undefined;
}
