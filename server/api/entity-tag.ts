/** Whether If-None-Match holds this entity tag, or `*`; weak comparison (RFC 9110 §13.1.2). */
export const isKnownTag = (header: string | null, etag: string): boolean =>
  header !== null && (header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag)));

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
