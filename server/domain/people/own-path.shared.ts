/** A path of this dashboard, never another site: `//evil.test` and `/\evil.test` are other sites to a browser. */
export const isOwnPath = (to: string): boolean => /^\/(?![/\\])[^\\\u0000-\u001f]*$/.test(to);
