/** Ciphertexts and signatures name the version of their key. `vault:` is read, never written, so that data of that engine can be brought along. */
export function parseVersioned(text: string): { foreign: boolean; version: number; rest: string } | undefined {
  const mark = /^(svc|vault):v([1-9][0-9]{0,8}):/.exec(text);
  return mark ? { foreign: mark[1] === 'vault', version: Number(mark[2]), rest: text.slice(mark[0].length) } : undefined;
}
