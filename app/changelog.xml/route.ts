import { changelogFeed } from '#server/api/changelog-feed.ts';

export const dynamic = 'force-dynamic';
export { changelogFeed as GET };
