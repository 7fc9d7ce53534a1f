import { members } from './list-header.ts';

/** Whether If-None-Match holds this entity tag, or `*`; weak comparison (RFC 9110 §13.1.2). */
export const isKnownTag = (header: string | null | undefined, etag: string): boolean =>
  members(header).some((tag) => tag === '*' || opaque(tag) === opaque(etag));

const opaque = (tag: string): string => tag.replace(/^W\//, '');
