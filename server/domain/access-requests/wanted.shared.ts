/** What a member may ask Owners and Admins for. */
export const WANTED = ['reveal_secrets', 'viewer', 'editor'] as const;
export type Wanted = (typeof WANTED)[number];
