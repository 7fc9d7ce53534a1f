import { thumbprintOf } from '#server/crypto/acme/account-key.ts';
import { signingKey } from '#server/crypto/acme/leaf.ts';
import { type CertificateRequest, parseRequestDer } from '#server/crypto/pki/csr.ts';
import { normalizeName } from '#server/domain/pki/names.shared.ts';
import { issueForKey, namedBy } from '#server/domain/pki/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read } from '#server/kernel/database.ts';
import { assertBacked } from './backing.ts';
import type { Directory } from './directory.ts';
import { assertServed } from './orders.ts';
import { derOf } from './payloads.ts';
import { AcmeProblem, notThere } from './problem.ts';
import { type AccountRow, lockedOrder, type OrderRow, orderOf } from './store.ts';

/**
 * Issues the certificate of an order that is ready, for the key of the request (RFC 8555 §7.4). The order, the record of the certificate and its audit entry
 * commit together, so nobody sees it processing. @throws AcmeProblem, Refusal; the order stays ready
 */
export async function finalizeOrder(
  directory: Directory,
  ctx: Ctx,
  account: AccountRow,
  { id, csr }: { id: string; csr: string },
): Promise<OrderRow> {
  assertServed(directory);
  const request = parseRequestDer(derOf('csr', csr));
  if ('refused' in request) throw badCsr(`The certificate request ${request.message}.`);
  const key = signingKey(request.publicKey);
  // RFC 8555 §11.1: a key that certifies and one that orders are lost in different ways.
  if (key && (await thumbprintOf(key)) === account.thumbprint)
    throw badCsr('The certificate request must have another key than the account.');
  await assertBacked(ctx, account);
  return inTransaction(ctx, async (tx) => {
    const order = await lockedOrder(tx, ctx, account, id);
    if (order.status !== 'ready')
      throw new AcmeProblem(
        'orderNotReady',
        `The order is ${order.status}. It can be finalized once, when all its authorizations are valid.`,
      );
    assertNames(request, order);
    const issued = await issueForKey(
      { ...ctx, tx },
      {
        name: directory.root.id,
        role: directory.role.id,
        subject: namedBy(order.names),
        san_dns: order.names,
        source: 'acme',
        publicKey: request.publicKey,
      },
    );
    await tx.acme_orders.update({
      where: { id: order.id, ...own(ctx) },
      data: { status: 'valid', serial_hex: issued.serial_hex, chain_pem: issued.cert_pem + firstOf(issued.ca_chain_pem) },
    });
    return orderOf(tx, ctx, account, order.id);
  });
}

/** The certificate of an order and its intermediate; clients trust the root already. @throws AcmeProblem */
export const certificateOf = (ctx: Ctx, account: AccountRow, id: string): Promise<string> =>
  read(ctx, async (tx) => {
    const { chain_pem } = await orderOf(tx, ctx, account, id);
    if (chain_pem === null) throw notThere();
    return chain_pem;
  });

/** Exactly the names of the order: none more, none less, and nothing but names of hosts. @throws AcmeProblem badCSR */
function assertNames(request: CertificateRequest, order: OrderRow): void {
  if (request.sanIp.length > 0) throw badCsr('The certificate request must ask for no IP addresses.');
  const { common_name } = request.subject;
  const asked = [...request.sanDns, ...(typeof common_name === 'string' ? [common_name] : [])].map(normalizeName);
  const names = new Set(asked);
  if (names.size !== order.names.length || !order.names.every((name) => names.has(name)))
    throw badCsr('The names of the certificate request, its common name included, must be those of the order.');
}

/** The first of several PEM blocks. */
const firstOf = (chain: string): string => `${chain.slice(0, chain.indexOf(END) + END.length)}\n`;
const END = '-----END CERTIFICATE-----';

const badCsr = (detail: string) => new AcmeProblem('badCSR', detail);
