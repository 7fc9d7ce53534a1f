import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { keyring } from '#server/platform/keys.ts';
import type { LogFile } from '../browse.schema.ts';
import { inspectLog } from '../browse.ts';
import { withAllOfPast } from '../history/past.ts';
import { pastCall } from '../history/reading.ts';
import type { LogRef } from '../schema.ts';
import { rowOf } from '../store.ts';
import { type SealedPayload, sealedPayloads } from './store.ts';
import { payloadPlace, type Side, type StoredPayload } from './stored.shared.ts';

type Input = z.output<typeof LogRef>;
type FileInput = z.output<typeof LogFile>;

/** Row 18 of interface rule 32 §2. */
export const revealOfPayload: Reveal<Input> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'log:read_payload',
  subject: callOf,
  state: async (ctx, { request_id }) => {
    if ((await sidesOf(ctx, request_id)).length === 0) throw notKept('The payload of this call is not stored.');
    return {};
  },
};

/** The same row, for one body as a file. */
export const revealOfFile: Reveal<FileInput> = {
  ...revealOfPayload,
  state: async (ctx, { request_id, part }) => {
    const row = (await sidesOf(ctx, request_id)).find(({ side }) => side === part);
    if (!row || row.body_bytes === 0n || row.body_withheld !== null) throw notKept(`No body of the ${part} is stored for this call.`);
    return { part };
  },
};

async function callOf(ctx: Ctx, { request_id }: Input) {
  const row =
    (await read(ctx, (tx) => rowOf(tx, ctx, request_id, ctx.now))) ??
    (await withAllOfPast(ctx, undefined, async (past) => past && pastCall(past, request_id)));
  if (!row) throw notFound();
  return { resource_type: 'request_log', resource_id: row.request_id, name: `${row.method ?? ''} ${row.path ?? '/'}`.slice(0, 200) };
}

const notKept = (message: string) => new Refusal('payload_not_captured', message);

/** The call as others see it, and both sides of its payload. */
export async function revealPayload(ctx: Ctx, { request_id }: Input) {
  const shown = await inspectLog(ctx, { request_id });
  const sides = await sidesOf(ctx, request_id);
  const open = async (side: Side) => {
    const row = sides.find((one) => one.side === side);
    return row ? opened(row) : null;
  };
  return { ...shown, payload: { request: await open('request'), response: await open('response') }, payload_withheld: false as const };
}

/** The bytes of one body, as they are stored. */
export async function fileOfPayload(ctx: Ctx, { request_id, part }: FileInput): Promise<RawBody> {
  const row = (await sidesOf(ctx, request_id)).find(({ side }) => side === part);
  const { body, encoding } = row ? await opened(row) : { body: null, encoding: null };
  if (body === null) throw notKept(`No body of the ${part} is stored for this call.`);
  const bytes = Buffer.from(body, encoding === 'base64' ? 'base64' : 'utf8');
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${request_id}-${part}.bin"`,
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
    },
    body: new Blob([bytes]).stream(),
  };
}

const sidesOf = (ctx: Ctx, request_id: string) => read(ctx, (tx) => sealedPayloads(tx, ctx, request_id));

async function opened(row: SealedPayload): Promise<StoredPayload> {
  const plaintext = await keyring().openValue(payloadPlace(row), row);
  try {
    return JSON.parse(plaintext.toString('utf8')) as StoredPayload;
  } finally {
    plaintext.fill(0);
  }
}
