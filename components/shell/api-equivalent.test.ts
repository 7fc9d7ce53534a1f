import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { listedOperations } from '#server/trpc/listed-operations.ts';

/** Changes that a page makes without a form or a question: one click on a cell, a switch, a menu. The developer pane shows their calls. */
const ONE_CLICK: Readonly<Record<string, string>> = {
  'aiGateways.clearStepUp': 'a menu entry of the row, with a second factor',
  'aiGateways.closeCircuit': 'a button of the row',
  'aiGateways.resume': 'a button',
  'aiGateways.resumeAgent': 'a button',
  'aiSpend.deleteUser': 'a menu entry of the row',
  'aiTrust.delete': 'a menu entry of the row',
  'aiControls.installPack': 'a button of the card',
  'aiSpend.deleteLimit': 'a menu entry of the row',
  'aiSpend.deletePrice': 'a menu entry of the row',
  'mcpServers.grant_revoke': 'a button of the row',
  'mcpServers.grants_revoke': 'a button',
  'mcpServers.refresh': 'a button',
  'mcpServers.update': 'switches, and a secret picked for a header',
  'clients.assign': 'a cell of the matrix',
  'clients.unassign': 'a cell of the matrix',
  'clients.updateCredential': 'a switch of the row',
  'collections.resetRoute': 'a menu entry of the row',
  'collections.deleteVariable': 'a menu entry of the row',
  'cryptoKeys.cancel_destruction': 'a menu entry of the row',
  'clientTokens.delete': 'a menu entry of the row',
  'dynDb.test': 'a button',
  'vaults.update': 'a switch',
  'wrap.deleteCredential': 'a confirmation',
  'wrap.deleteToken': 'a menu entry of the row',
  'workflows.cancel': 'a button',
  'workflows.retry': 'a button',
  'routes.updateAction': 'a switch of the row, or its place',
  'routes.deleteAction': 'a button of the row',
};

const sources = globSync('components/**/*.{ts,tsx}', { cwd: new URL('../..', import.meta.url).pathname })
  .filter((file) => !file.includes('.test.'))
  .map((file) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));

/** `PATCH /routes/{}` of every call that some form offers as code; ids are blanks. */
const offered = new Set(
  sources.flatMap((source) =>
    [...source.matchAll(/<ApiEquivalent\b([\s\S]*?)\/>/g)].flatMap(([, props = '']) => {
      const methods = [...props.matchAll(/['"](GET|POST|PUT|PATCH|DELETE)['"]/g)].map(([, method]) => method);
      const paths = [...props.matchAll(/['"`](\/[^'"`]*)['"`]/g)].map(([, path = '']) => path.replace(/\$\{[^}]*\}/g, '{}'));
      return methods.flatMap((method) => paths.map((path) => `${method} ${path}`));
    }),
  ),
);

const changes = listedOperations().filter(({ public: own, method, procedure }) => own && method !== 'GET' && procedure);
const isMade = (procedure: string) =>
  sources.some((source) => new RegExp(`\\.${procedure.replace('.', '\\.')}\\.(?:mutationOptions|mutate)\\b`).test(source));

test('every form that makes a call of the API offers that call as code', () => {
  const silent = changes
    .filter(({ procedure }) => procedure && isMade(procedure) && !ONE_CLICK[procedure])
    .filter(({ method, path }) => !offered.has(`${method} ${path.replace(/\{\w+\}/g, '{}')}`))
    .map(({ procedure, method, path }) => `${procedure}: ${method} ${path}`);
  assert.deepEqual(silent, []);
});

test('what is offered as code is a call that the API has, and the list of exceptions names nothing else', () => {
  const known = new Set(listedOperations().map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`));
  // A form that creates or edits names both methods and both addresses: one of the pairs is real for each.
  for (const call of offered) {
    const path = call.slice(call.indexOf(' ') + 1);
    assert.ok(
      [...known].some((one) => one.endsWith(` ${path}`)),
      call,
    );
  }
  for (const procedure of Object.keys(ONE_CLICK))
    assert.ok(
      changes.some((one) => one.procedure === procedure),
      procedure,
    );
});
