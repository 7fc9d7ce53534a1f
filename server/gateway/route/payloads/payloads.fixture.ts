import { payloadPlace, type Side, type StoredPayload } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { until } from '#server/testing/until.ts';
import type { Answer, Running } from '../../gateway.fixture.ts';

/** What is kept of a call, opened: by side. Waits until the call is logged. */
export async function keptOf(running: Running, request_id: string) {
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { request_id } })) === 1;
  });
  const log = await db().request_logs.findFirstOrThrow({ where: { request_id } });
  const rows = await db().log_payloads.findMany({ where: { request_id } });
  const sides = await Promise.all(
    rows.map(async (row) => {
      const bytes = await keyring().openValue(payloadPlace(row), row);
      const { side, body_bytes, truncated, content_type, body_withheld } = row;
      return [
        side,
        { ...(JSON.parse(bytes.toString()) as StoredPayload), body_bytes: Number(body_bytes), truncated, content_type, body_withheld },
      ] as const;
    }),
  );
  return { flags: log.payload_flags, log, rows, ...(Object.fromEntries(sides) as Partial<Record<Side, (typeof sides)[number][1]>>) };
}

export const idOf = (answer: Answer): string => answer.headers['x-svc-request-id'] ?? '';
