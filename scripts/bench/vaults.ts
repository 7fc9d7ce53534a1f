import { setTimeout as sleep } from 'node:timers/promises';
import { entitled } from '../entitled.ts';
import { drive, type Load } from './load.ts';
import { cpuSeconds, median } from './machine.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';

const ROWS = 1_000_000;
const rounds = 3;
const load = { connections: 32, seconds: 5 };
const target = 1.5;
/** Calls at the same time for one value. */
const AT_ONCE = 50;

/** A vault of a million tokens: one value has one token however many ask for it at once, and tokenizing costs little more than encrypting. */
export async function measureVaults(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const { tenantId, vaultId, keyName, vaultName, key } = await makeCalls();
    const filled = await fill(tenantId, vaultId);
    say(`a vault of ${ROWS.toLocaleString('en')} tokens, filled in ${Math.round(filled / 1_000)} s`);
    const gateway = await installation.startGateway();
    const origin = `http://127.0.0.1:${installation.ports.api}/v1`;
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const post = async (path: string, body: object) => {
      // As clients do, again while the service is busy: nothing else is measured here.
      let answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      for (let attempt = 1; answer.status === 503 && attempt <= 5; attempt++) {
        await answer.arrayBuffer();
        await sleep(1_000 * attempt);
        answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      }
      const text = await answer.text();
      if (!answer.ok) throw new Error(`POST ${path} isn't served: ${answer.status} ${text.slice(0, 300)}`);
      return (JSON.parse(text) as { data: { token: string } }).data;
    };
    await post(`/vaults/${vaultName}/tokens`, { value: '378282246310005' });
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => post(`/vaults/${vaultName}/tokens`, { value: '4242424242424242' })),
    );
    const took = performance.now() - began;
    const distinct = new Set(answers.map(({ token }) => token)).size;

    const calls = {
      encrypt: { path: `/crypto/keys/${keyName}/encrypt`, body: JSON.stringify({ plaintext: '4242424242424242' }) },
      tokenize: { path: `/vaults/plain/tokens`, body: JSON.stringify({ value: '4242424242424242' }) },
    };
    const cpu = { encrypt: [] as number[], tokenize: [] as number[] };
    const database = { encrypt: [] as number[], tokenize: [] as number[] };
    for (let round = 0; round <= rounds; round++)
      for (const name of ['encrypt', 'tokenize'] as const) {
        const request: Load = { url: origin + calls[name].path, method: 'POST', body: calls[name].body, headers, ...load };
        const before = { own: cpuSeconds([gateway.pid ?? 0]), database: cpuSeconds(installation.databasePids()) };
        const { requests, p50 } = await drive(request, directory);
        const us = ((cpuSeconds([gateway.pid ?? 0]) - before.own) / requests) * 1e6;
        if (round === 0) continue; // to warm up
        cpu[name].push(us);
        database[name].push(((cpuSeconds(installation.databasePids()) - before.database) / requests) * 1e6);
        say(`${name}, round ${round}: ${micros(us)}, ${Math.round(requests / load.seconds)} calls/s, p50 ${p50} ms`);
      }
    const ratio = median(cpu.tokenize.map((us, round) => us / (cpu.encrypt[round] ?? Number.NaN)));
    return [
      {
        what: `${AT_ONCE} calls at once for one value, beside ${ROWS.toLocaleString('en')} tokens`,
        measured: `${Math.round(took)} ms`,
        against: '',
        value: `${distinct} token`,
        target: '1 token',
        pass: distinct === 1,
      },
      {
        what: 'tokenize, CPU a call',
        measured: micros(median(cpu.tokenize)),
        against: `encrypt ${micros(median(cpu.encrypt))}`,
        value: times(ratio),
        target: `<= ${target} x`,
        pass: ratio <= target,
      },
      {
        what: 'tokenize, CPU of PostgreSQL',
        measured: micros(median(database.tokenize)),
        against: `encrypt ${micros(median(database.encrypt))}`,
        value: '',
        target: '',
        pass: null,
      },
    ];
  } finally {
    await installation.stop();
  }
}

async function makeCalls() {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createVault } = await import('../../server/domain/vaults/service.ts');
  const { CreateVault } = await import('../../server/domain/vaults/schema.ts');
  const { createCryptoKey } = await import('../../server/domain/crypto-keys/service.ts');
  const { CreateCryptoKey } = await import('../../server/domain/crypto-keys/schema.ts');
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  const ctx = entitled(operator.operatorCtx(tenant.id, 'live'));
  const vault = await createVault(ctx, CreateVault.parse({ name: 'cards', token_format: 'pan', dedupe: true }));
  await createVault(ctx, CreateVault.parse({ name: 'plain' }));
  await createCryptoKey(ctx, CreateCryptoKey.parse({ name: 'bench' }));
  const { api_key } = await operator.createKey({ slug: 'bench', space: 'live', role: 'Key - Infrastructure' });
  return { tenantId: tenant.id, vaultId: vault.id, vaultName: 'cards', keyName: 'bench', key: api_key };
}

/** Rows as tokenize writes them, whose values nobody opens. @returns milliseconds */
async function fill(tenantId: string, vaultId: string): Promise<number> {
  const { sql } = await import('../../server/platform/sql.ts');
  const began = performance.now();
  for (let at = 0; at < ROWS; at += 100_000)
    await sql().query(
      `insert into vault_tokens (id, tenant_id, sandbox, vault_id, token, wrapped_value, crypto_key_version, metadata, value_hmac, created_at)
       select gen_random_uuid(), $1, false, $2, lpad(i::text, 12, '9') || substr(md5(i::text), 1, 8), sha256(('v' || i)::bytea), 1,
         jsonb_build_object('customer', 'cus_' || i), sha256(i::text::bytea), now() - i * interval '1 second'
       from generate_series($3::int, $4::int) as i`,
      [tenantId, vaultId, at + 1, at + 100_000],
    );
  await sql().query('analyze vault_tokens');
  return performance.now() - began;
}
