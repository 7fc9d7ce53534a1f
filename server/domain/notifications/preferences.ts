import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { personIn } from './inbox.ts';
import { lockedKinds, MOST_RESOURCES } from './kinds.shared.ts';
import type { FollowResource, NotificationPreferences, UpdatePreferences } from './schema.ts';
import { type SettingsRow, settingsOf } from './settings.ts';

type View = z.input<typeof NotificationPreferences>;

/** How the person is told in this workspace. @throws Refusal role_denied */
export function getPreferences(ctx: Ctx): Promise<View> {
  personIn(ctx);
  return read(ctx, async (tx) => shown(ctx, await stored(tx, ctx)));
}

/** Changes what is given and leaves the rest. Kinds that the role can't turn off are refused. @throws Refusal role_denied, validation_error */
export function updatePreferences(ctx: Ctx, input: z.output<typeof UpdatePreferences>): Promise<View> {
  const { role } = personIn(ctx);
  for (const kind of lockedKinds(role)) {
    const wanted = input.channels?.[kind];
    if (wanted && !(wanted.in_app && wanted.email)) throw invalid(`channels.${kind}`, 'can’t be turned off by an Owner');
  }
  return change(ctx, (before) => {
    const { channels, quiet_hours } = settingsOf(before, role, null);
    const quiet = input.quiet_hours === undefined ? quiet_hours : input.quiet_hours;
    return {
      channels: { ...channels, ...input.channels },
      digest: input.digest ?? before?.digest ?? 'instant',
      ...{ quiet_from: quiet?.from ?? null, quiet_until: quiet?.until ?? null, timezone: quiet?.timezone ?? before?.timezone ?? 'UTC' },
    };
  });
}

/** Follows or mutes one resource, or neither. @throws Refusal role_denied, validation_error beyond 200 resources */
export function followResource(ctx: Ctx, { mode, ...resource }: z.output<typeof FollowResource>): Promise<View> {
  const { role } = personIn(ctx);
  return change(ctx, (before) => {
    const others = settingsOf(before, role, null).resources.filter(
      (one) => one.resource_type !== resource.resource_type || one.resource_id !== resource.resource_id,
    );
    if (mode !== 'default' && others.length >= MOST_RESOURCES)
      throw invalid('resource_id', `you already follow or mute ${MOST_RESOURCES} resources; remove one first`);
    return { resources: mode === 'default' ? others : [...others, { ...resource, mode }] };
  });
}

function change(ctx: Ctx, of: (before: SettingsRow | null) => Prisma.notification_settingsUncheckedUpdateInput): Promise<View> {
  const person = personIn(ctx);
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:notifications:${person.id}`);
    const data = of(await stored(tx, ctx));
    const key = { tenant_id: ctx.tenant_id, user_id: person.id };
    const row = await tx.notification_settings.upsert({
      where: { tenant_id_user_id: key },
      create: { ...(data as Prisma.notification_settingsUncheckedCreateInput), ...key, updated_at: ctx.now },
      update: { ...data, updated_at: ctx.now },
    });
    return unchanged(shown(ctx, row));
  });
}

const stored = (tx: Tx, ctx: Ctx) =>
  tx.notification_settings.findUnique({ where: { tenant_id_user_id: { tenant_id: ctx.tenant_id, user_id: personIn(ctx).id } } });

function shown(ctx: Ctx, row: SettingsRow | null): View {
  const { role } = personIn(ctx);
  const { channels, digest, quiet_hours, resources } = settingsOf(row, role, null);
  return { channels, digest, quiet_hours, resources: resources as View['resources'], locked: lockedKinds(role) };
}
