import { handleNotificationStream } from '#server/trpc/notification-stream.ts';

export const dynamic = 'force-dynamic';
export { handleNotificationStream as GET };
