import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { db } from '#server/platform/db.ts';
import { clientFile, unlessFound } from '#server/testing/clients.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, type Upstream } from '../gateway.fixture.ts';
import { makeAgent, makeToken } from './ai.fixture.ts';
import { ANSWER, chatModel, claudeModel, converseModel, NOTE, PIXEL, responsesModel, SEEN } from './tool-loop.fixture.ts';

// Claude Code and Codex as people install them, with nothing changed but their address and key: each reads a note by running a command, and answers.
// scripts/fetch-clients.ts writes them into CLIENTS_DIR.

const claude = clientFile(`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
const codex = clientFile(`@openai/codex-${process.platform}-${process.arch}/vendor/*/bin/codex`);

await testDatabase();
const running = await startGateway();
const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
const w = await workspace();

const PROVIDERS: Readonly<Record<string, { model: () => Promise<Upstream>; header?: Record<string, string>; id: string }>> = {
  anthropic: { id: 'anthropic', model: claudeModel, header: { 'x-api-key': '$KEY' } },
  'chat completions': { id: 'mistral', model: chatModel },
  'bedrock converse': { id: 'bedrock', model: converseModel },
  responses: { id: 'openai', model: responsesModel },
};

/** An agent of a provider that answers as its own model would, whatever the program calls it. */
async function setUp(kind: string) {
  const { id, model, header } = PROVIDERS[kind] as (typeof PROVIDERS)[string];
  const upstream = await model();
  const made = await makeAgent(w, upstream, { provider: id, default_model: 'some-model' }, {}, header ?? {});
  const token = await makeToken(w, made);
  await served(running, w);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'command-line-'));
  after(() => fs.rmSync(home, { recursive: true, force: true }));
  const work = path.join(home, 'work');
  fs.mkdirSync(work);
  fs.writeFileSync(path.join(work, 'note.txt'), `${NOTE}\n`);
  const rows = () =>
    until(async () => {
      await running.flush();
      const found = await db().ai_request_logs.findMany({ where: { agent_id: made.agent.id } });
      return found.length >= upstream.seen.length && found;
    });
  return { url: `http://localhost:${port}/v1/ai/${made.agent.slug}`, key: token.text, home, work, upstream, rows };
}

type Ready = Awaited<ReturnType<typeof setUp>>;

/** Runs a program with an environment of its own; what it prints is the judge. */
async function runs(file: string, args: string[], { home, work, upstream }: Ready, env: Record<string, string>): Promise<string> {
  const started = promisify(execFile)(file, args, {
    cwd: work,
    env: { NODE_ENV: 'production', PATH: process.env.PATH, HOME: home, ...env },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 120_000,
  });
  started.child.stdin?.end();
  try {
    return (await started).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    const sent = upstream.seen.map(({ body }) => body.slice(0, 500)).join('\n');
    throw new Error(`${file} failed:\n${stdout ?? ''}\n${stderr ?? ''}\nThe provider got:\n${sent}`, { cause: error });
  }
}

async function assertLooped({ upstream, rows }: Ready, output: string, said = ANSWER): Promise<void> {
  assert.ok(output.includes(said), `${output}\n${upstream.seen.map(({ url, body }) => `${url} ${body.slice(0, 300)}`).join('\n')}`);
  assert.ok(upstream.seen.length >= 2);
  for (const { status, http_status, code } of await rows()) assert.deepEqual([status, http_status, code], ['ok', 200, null]);
}

const claudeSettings = ({ url, key }: Ready) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: key,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
});

for (const kind of ['anthropic', 'chat completions', 'bedrock converse'])
  test(`Claude Code runs a command and answers through ${kind}`, { skip: unlessFound(claude, 'Claude Code') }, async () => {
    const ready = await setUp(kind);
    const args = ['-p', 'What does note.txt say?', '--output-format', 'json', '--allowedTools', 'Bash(cat:*)'];
    await assertLooped(ready, await runs(claude as string, args, ready, claudeSettings(ready)));
  });

for (const kind of ['chat completions', 'bedrock converse'])
  test(`Claude Code shows a picture to ${kind}`, { skip: unlessFound(claude, 'Claude Code') }, async () => {
    const ready = await setUp(kind);
    fs.writeFileSync(path.join(ready.work, 'picture.png'), Buffer.from(PIXEL, 'base64'));
    const args = ['-p', 'What does picture.png show?', '--output-format', 'json', '--allowedTools', 'Read'];
    await assertLooped(ready, await runs(claude as string, args, ready, claudeSettings(ready)), SEEN);
  });

for (const kind of ['responses', 'chat completions', 'anthropic', 'bedrock converse'])
  test(`Codex runs a command and answers through ${kind}`, { skip: unlessFound(codex, 'Codex') }, async () => {
    const ready = await setUp(kind);
    const settings = path.join(ready.home, 'codex');
    fs.mkdirSync(settings);
    fs.writeFileSync(
      path.join(settings, 'config.toml'),
      `model = "gpt-test"\nmodel_provider = "agent"\n[analytics]\nenabled = false\n[model_providers.agent]\nname = "agent"\nbase_url = "${ready.url}/v1"\nwire_api = "responses"\nenv_key = "AGENT_TOKEN"\n`,
    );
    const args = ['exec', '--json', '--skip-git-repo-check', 'What does note.txt say?'];
    await assertLooped(ready, await runs(codex as string, args, ready, { CODEX_HOME: settings, AGENT_TOKEN: ready.key }));
  });
