import type { z } from 'zod';
import { randomBase64url } from '#server/crypto/random.ts';
import { judgeName } from '#server/domain/pki/names.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { assertBacked } from './backing.ts';
import type { Directory } from './directory.ts';
import { spend } from './limits.ts';
import type { NewOrder } from './payloads.ts';
import { AcmeProblem, malformed, type ProblemDocument, problem, unauthorized } from './problem.ts';
import { type AccountRow, type ChallengeType, type OrderRow, orderOf } from './store.ts';

/** How long an order can be finished, and an authorization be proven. */
export const PENDING_MS = 7 * 86_400_000;
/** Orders of one account that are neither finished nor over. */
const MOST_PENDING = 300;
const PAGE = 100;

/** An order for names that the role allows, each with its authorization (RFC 8555 §7.4). @throws AcmeProblem */
export async function createOrder(
  directory: Directory,
  ctx: Ctx,
  account: AccountRow,
  payload: z.output<typeof NewOrder>,
): Promise<OrderRow> {
  assertServed(directory);
  if (payload.notBefore !== undefined || payload.notAfter !== undefined)
    throw malformed('notBefore and notAfter are not supported: the lifetime of certificates is set by the role.');
  const names = allowedNames(directory, payload.identifiers);
  await assertBacked(ctx, account);
  await spend('order', account.id, ctx.now);
  // An order is a step of a protocol and changes nothing that anybody relies on: the certificate it leads to is audited.
  return inTransaction(ctx, async (tx) => {
    const open = { ...own(ctx), account_id: account.id, status: { in: ['pending', 'ready'] }, expires_at: { gt: ctx.now } };
    if ((await tx.acme_orders.count({ where: open })) >= MOST_PENDING)
      throw new AcmeProblem(
        'rateLimited',
        `An account has at most ${MOST_PENDING} unfinished orders. Finish some of them, or wait until they expire.`,
      );
    const id = newId();
    const expires_at = new Date(Math.floor((ctx.now.getTime() + PENDING_MS) / 1_000) * 1_000);
    await tx.acme_orders.create({ data: { ...own(ctx), id, account_id: account.id, names, expires_at, created_at: ctx.now } });
    const authorizations = names.map((name) => ({ id: newId(), name: name.replace(/^\*\./, ''), wildcard: name.startsWith('*.') }));
    await tx.acme_authorizations.createMany({
      data: authorizations.map((one) => ({ ...own(ctx), ...one, order_id: id, account_id: account.id, expires_at })),
    });
    await tx.acme_challenges.createMany({
      data: authorizations.flatMap(({ id: authorization_id, wildcard }) =>
        challengeTypes(wildcard).map((type) => ({ ...own(ctx), id: newId(), authorization_id, type, token: randomBase64url(32) })),
      ),
    });
    return orderOf(tx, ctx, account, id);
  });
}

/** @throws AcmeProblem */
export const getOrder = (ctx: Ctx, account: AccountRow, id: string): Promise<OrderRow> => read(ctx, (tx) => orderOf(tx, ctx, account, id));

/** IDs of the orders that are not over, oldest first, and whether there are more behind the last (RFC 8555 §7.1.2.1). */
export const listOrders = (ctx: Ctx, account: AccountRow, after: string | undefined): Promise<{ ids: string[]; more: boolean }> =>
  read(ctx, async (tx) => {
    const rows = await tx.acme_orders.findMany({
      where: { ...own(ctx), account_id: account.id, status: { not: 'invalid' }, ...(after === undefined ? {} : { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: PAGE + 1,
      select: { id: true },
    });
    return { ids: rows.slice(0, PAGE).map(({ id }) => id), more: rows.length > PAGE };
  });

/** A workspace whose subscription ended works no more. @throws AcmeProblem unauthorized */
export function assertServed({ served }: Directory): void {
  if (!served) throw unauthorized('The subscription of this workspace has ended, so it issues no certificates.');
}

/** A name of everything below a name is proven at the name's own zone, and in no other way (RFC 8555 §7.1.3). */
const challengeTypes = (wildcard: boolean): readonly ChallengeType[] => (wildcard ? ['dns-01'] : ['http-01', 'dns-01', 'tls-alpn-01']);

/** The names in their one spelling. @throws AcmeProblem with a problem for each that can't be certified */
function allowedNames({ role }: Directory, identifiers: z.output<typeof NewOrder>['identifiers']): string[] {
  const names = new Set<string>();
  const problems: ProblemDocument[] = [];
  for (const identifier of identifiers) {
    const { type, value } = identifier;
    if (type !== 'dns') {
      problems.push(problem('unsupportedIdentifier', `Identifiers of the type ${JSON.stringify(type)} are not supported.`, identifier));
      continue;
    }
    const verdict = judgeName(role, value);
    if (verdict.allowed) names.add(verdict.name);
    else if (verdict.why === 'malformed') problems.push(problem('malformed', `${JSON.stringify(value)} is not a DNS name.`, identifier));
    else
      problems.push(problem('rejectedIdentifier', `The role ${role.name} does not allow the name ${JSON.stringify(value)}.`, identifier));
  }
  const [first] = problems;
  if (!first) return [...names];
  const type = problems.every((one) => one.type === first.type) ? first.type.slice(first.type.lastIndexOf(':') + 1) : 'malformed';
  throw new AcmeProblem(type as 'malformed', problems.length === 1 ? first.detail : `${problems.length} of the names can't be certified.`, {
    subproblems: problems,
  });
}
