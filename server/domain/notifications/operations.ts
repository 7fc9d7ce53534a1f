import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import * as inbox from './inbox.ts';
import * as settings from './preferences.ts';
import {
  FollowResource,
  ListNotifications,
  Marked,
  MarkRead,
  Notification,
  NotificationPreferences,
  UnreadCount,
  UpdatePreferences,
} from './schema.ts';

// Everybody has an inbox and sees nobody else's: the verbs ask for a person, and no capability is involved.

export const list = operation({
  id: 'notifications.list',
  summary: 'List your notifications',
  http: 'GET /admin/notifications',
  kind: 'read',
  needs: 'any',
  refuses: ['role_denied'],
  input: ListNotifications,
  output: z.array(Notification),
  list: 'paged',
  run: (ctx, input) => inbox.listNotifications(ctx, input),
});

export const count = operation({
  id: 'notifications.count',
  summary: 'Count your unread notifications',
  http: 'GET /admin/notifications/count',
  kind: 'read',
  needs: 'any',
  refuses: ['role_denied'],
  input: z.object({}),
  output: UnreadCount,
  run: (ctx) => inbox.countUnread(ctx),
});

export const read = operation({
  id: 'notifications.read',
  summary: 'Mark notifications as read',
  http: 'POST /admin/notifications/read',
  kind: 'change',
  needs: 'any',
  while_inactive: true,
  refuses: ['role_denied'],
  input: MarkRead,
  output: Marked,
  run: (ctx, input) => inbox.markRead(ctx, input),
});

export const preferences = operation({
  id: 'notifications.preferences',
  summary: 'Get your notification preferences',
  http: 'GET /admin/notifications/preferences',
  kind: 'read',
  needs: 'any',
  refuses: ['role_denied'],
  input: z.object({}),
  output: NotificationPreferences,
  run: (ctx) => settings.getPreferences(ctx),
});

export const update = operation({
  id: 'notifications.update',
  summary: 'Update your notification preferences',
  http: 'PATCH /admin/notifications/preferences',
  kind: 'change',
  needs: 'any',
  while_inactive: true,
  refuses: ['role_denied'],
  input: UpdatePreferences,
  output: NotificationPreferences,
  run: (ctx, input) => settings.updatePreferences(ctx, input),
});

export const follow = operation({
  id: 'notifications.follow',
  summary: 'Follow or mute a resource',
  http: 'PUT /admin/notifications/resources',
  kind: 'change',
  needs: 'any',
  while_inactive: true,
  refuses: ['role_denied'],
  input: FollowResource,
  output: NotificationPreferences,
  run: (ctx, input) => settings.followResource(ctx, input),
});
