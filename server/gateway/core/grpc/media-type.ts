/** `application/grpc`, also with a suffix or parameters. Not `application/grpc-web`, whose trailers are part of its body: for that any HTTP will do. */
export function isGrpc(contentType: string): boolean {
  if (!contentType.startsWith('application/grpc')) return false;
  const next = contentType[16];
  return next === undefined || next === '+' || next === ';' || next === ' ';
}
