import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType, TEST_EVENT } from './catalogue.shared.ts';

// The catalogue (interface rule 60 §3) held against the code: what can be subscribed to is raised somewhere, and what is raised can be subscribed to.

/** Raised by the database for every audit entry, in the transaction of the entry. */
const BY_TRIGGER: readonly EventType[] = ['audit.event'];

/** Files that may cause an event: code that runs, and that raises or hands its event to what does. */
const sources = globSync('server/{domain,gateway,custody,jobs,oauth,scim,auth}/**/*.ts')
  .filter((file) => !/\.(?:test|fixture)\.ts$|\/(?:catalogue\.shared|descriptions|seed|envelope|options\.shared|schema)\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const RAISES = /\braise\w*\b|\bEventType\b|\bDomainEvent\b|call-events|\bevents?\b/i;
/** As it is written, or with its last word put in: `agent.${next}`. */
const spellings = (type: string) => [`'${type}'`, `\`${type.slice(0, type.lastIndexOf('.'))}.\${`];
const causes = (type: string) =>
  sources.filter(({ text }) => spellings(type).some((spelling) => text.includes(spelling)) && RAISES.test(text)).map(({ file }) => file);

test('every event type of the catalogue has its cause in the code', () => {
  const missing = EVENT_TYPE_NAMES.filter((type) => !BY_TRIGGER.includes(type) && causes(type).length === 0);
  assert.deepEqual(missing, []);
});

test('a test brings about each event type and looks for the event', () => {
  // These name every type, or send the sample of any, and bring about none.
  const without = /\/(?:causes|matching)\.test\.ts$|\/webhooks\/service\.test\.ts$|\/notifications\/(?:stream|mailing)\.test\.ts$/;
  const tests = globSync('server/**/*.test.ts')
    .filter((file) => !without.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => /watchEvents|event_subscriptions|events\.find/.test(text))
    .join('\n');
  const named = (type: string) => tests.includes(`'${type}'`) || (type.startsWith('request.') && tests.includes(`'${type.slice(8)}'`));
  assert.deepEqual(
    EVENT_TYPE_NAMES.filter((type) => !named(type)),
    [],
  );
});

test('what is raised by name is in the catalogue', () => {
  const raised = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\braise\w*\([^;]{0,400}?\btype: '([a-z_0-9.]+)'/g)].map(([, type]) => ({ file, type: type ?? '' })),
  );
  assert.ok(raised.length >= 10, `only ${raised.length} places were found: does the pattern still fit the code?`);
  assert.deepEqual(
    raised.filter(({ type }) => !Object.hasOwn(EVENT_TYPES, type)),
    [],
  );
});

test('every audit entry is an event: the database itself raises it', () => {
  const migrations = globSync('prisma/migrations/*/migration.sql').map((file) => readFileSync(file, 'utf8'));
  assert.ok(migrations.some((text) => /CREATE TRIGGER \w+ AFTER INSERT ON "?audit_logs"?/.test(text) && text.includes("'audit.event'")));
});

test('the event of a test can not be subscribed to', () => {
  assert.ok(!EVENT_TYPE_NAMES.includes(TEST_EVENT as EventType));
});
