import { channelsNamed, testMessage, tryChannel } from '#server/domain/alert-channels/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { limitTests } from '#server/platform/test-limit.ts';
import { describeCondition, thresholdOf, UNITS } from './conditions.shared.ts';
import { alertById } from './store.ts';

/** Tells every channel of an alert that this is a test, at once and without retries. @throws Refusal not_found, conflict without channels, rate_limited */
export async function testAlert(ctx: Ctx, { id }: { id: string }) {
  const { alert, channels } = await read(ctx, async (tx) => {
    const alert = await alertById(tx, ctx, id);
    return { alert, channels: await channelsNamed(tx, ctx, alert.channel_ids) };
  });
  if (channels.length === 0) throw new Refusal('conflict', 'This alert has no channels. Add one to it, then test it.');
  await limitTests(ctx, 'alert-test', { what: 'tests of alerts', instead: 'the receiver' });
  const { name, type, severity, condition } = alert;
  const threshold = thresholdOf(type, condition);
  const message = await testMessage(ctx, {
    ...{ alert_id: alert.id, alert: name, type, severity, threshold, unit: UNITS[type] },
    condition: describeCondition(type, condition),
  });
  return Promise.all(channels.map((channel) => tryChannel(ctx, channel, message)));
}
