import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway } from '../gateway.fixture.ts';
import { CONFORMANCE_TOOLS, startConformanceUpstream } from './conformance.fixture.ts';
import { doorTo } from './door.fixture.ts';
import { makeMcp } from './mcp.fixture.ts';

// The official suite against the plane, behind a local address that adds the token. What it may fail by is argued line by line in `conformance/`, once for both eras;
// an entry that passes fails the run as well.

await testDatabase();
const running = await startGateway();

/** The suite keeps sets of requirements of the newer ones; for the others it runs what applied to them. */
const REVISIONS = {
  '2025-03-26': ['--suite', 'all', '--spec-version', '2025-03-26'],
  '2025-06-18': ['--suite', 'all', '--spec-version', '2025-06-18'],
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
};

for (const [revision, chosen] of Object.entries(REVISIONS))
  test(`the plane conforms to ${revision}`, async () => {
    const upstream = await startConformanceUpstream();
    const w = await workspace();
    const { token, server } = await makeMcp(running, w, upstream.url, { allowed_tools: CONFORMANCE_TOOLS });
    const door = await doorTo(running, w.tenant.slug, { authorization: `Bearer ${token.text}` });
    await db().mcp_servers.update({ where: { id: server.id }, data: { allowed_origins: [door.replace('127.0.0.1', 'localhost'), door] } });
    await served(running, w);
    const output = mkdtempSync(path.join(tmpdir(), 'conformance-'));
    const args = ['--url', `${door}/v1/mcp/vendor`, ...chosen, '--output-dir', output];
    const expected = path.join(import.meta.dirname, 'conformance', `${revision < '2026' ? '2025-11-25' : revision}.yaml`);
    const { code, text } = await run([...args, '--expected-failures', expected]);
    rmSync(output, { recursive: true, force: true });
    assert.equal(code, 0, text.slice(-6_000));
    assert.match(text, /Total: [1-9]\d* passed/, 'the suite knows scenarios of this revision');
  });

function run(args: readonly string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['node_modules/@modelcontextprotocol/conformance/dist/index.js', 'server', ...args]);
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    child.on('close', (code) => resolve({ code, text }));
  });
}
