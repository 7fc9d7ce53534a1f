import type { z } from 'zod';
import { longestWord } from '#server/ai/patterns/word-list.ts';
import { BUILT_IN_REACH } from '#server/ai/pii/policy.ts';
import { isSidecarKind, type Recognizer, reachOf } from '#server/ai/pii/recognizer.ts';
import { problemOf } from '#server/custody/ai/detectors/checks.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { RECOGNIZER_PROTECTIONS } from './protections.ts';
import { type CreatePiiRecognizer, type ListPiiRecognizers, LONGEST_PATTERN, LONGEST_WORD, type UpdatePiiRecognizer } from './schema.ts';
import { assertUnused } from './service.ts';
import { creatorOf, lockedRecognizer, type RecognizerRow, recognizerById, recognizerOf, shownRecognizer } from './store.ts';
import { assertWordBudget } from './word-budget.ts';

export const listRecognizers = (ctx: Ctx, query: z.output<typeof ListPiiRecognizers>) =>
  read(ctx, async (tx) => {
    const total = await tx.ai_pii_recognizers.count({ where: own(ctx) });
    const rows = await pagedRows(
      query,
      total,
      [{ [query.sort]: query.order }, { id: query.order }],
      (window) => tx.ai_pii_recognizers.findMany({ where: own(ctx), ...window, select: { id: true } }),
      (ids) => tx.ai_pii_recognizers.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(shownRecognizer), total, query);
  });

/** @throws Refusal not_found */
export const getRecognizer = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => shownRecognizer(await recognizerById(tx, ctx, id)));

/** @throws Refusal conflict when the name is taken, validation_error for what the detectors can't run */
export async function createRecognizer(ctx: Ctx, input: z.output<typeof CreatePiiRecognizer>) {
  const settings = { ...DEFAULTS, ...input };
  await assertRuns(ctx, settings);
  assertShortWords(settings);
  return mutate(ctx, async (tx) => {
    await assertWordBudget(tx, ctx, { id: null, before: 0, after: wordsLength(settings) });
    const at = { created_at: ctx.now, updated_at: ctx.now };
    const row = await tx.ai_pii_recognizers
      .create({ data: { ...own(ctx), ...settings, ...at, id: newId(), created_by: creatorOf(ctx) } })
      .catch(onUnique('A recognizer with this name already exists.'));
    return audited(shownRecognizer(row), recognizerEntry('create', row));
  });
}

/** The settings are judged together with those that stay. @throws Refusal not_found, conflict, validation_error */
export async function updateRecognizer(ctx: Ctx, { id, ...input }: z.output<typeof UpdatePiiRecognizer>) {
  // A format belongs to tokens, so it goes with them unless it is asked for.
  const forgets = input.format === undefined && input.action !== undefined && input.action !== 'tokenize' ? { format: null } : {};
  const stored = await read(ctx, async (tx) => recognizerOf(await recognizerById(tx, ctx, id)));
  const asked = { ...stored, ...input, ...forgets };
  // Compiled before the transaction, in which nothing may wait for a thread.
  if (ranAs(asked) !== ranAs(stored)) await assertCompiles(ctx, asked);
  return mutate(ctx, async (tx) => {
    const before = await lockedRecognizer(tx, ctx, id);
    if (ranAs(recognizerOf(before)) !== ranAs(stored))
      throw new Refusal('conflict', 'Someone else has changed this recognizer meanwhile. Look at it and try again.');
    const merged = { ...recognizerOf(before), ...input, ...forgets };
    assertSettings(ctx, merged);
    if (input.pattern !== undefined || input.kind !== undefined) {
      assertShortWords(merged);
      await assertWordBudget(tx, ctx, { id: before.id, before: wordsLength(before), after: wordsLength(merged) });
    }
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, RECOGNIZER_PROTECTIONS));
    const after = await tx.ai_pii_recognizers
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...input, ...forgets, updated_at: ctx.now } })
      .catch(onUnique('A recognizer with this name already exists.'));
    const changes = changesOf(recognizerOf(before), recognizerOf(after), [...Object.keys(input), ...Object.keys(forgets)]);
    if (changes.length === 0) return unchanged(shownRecognizer(after));
    return audited(shownRecognizer(after), { ...recognizerEntry('update', after), changes });
  });
}

/** What decides whether detectors can run it. */
const ranAs = ({ kind, pattern, context_words, action }: RecognizerSettings): string =>
  JSON.stringify([kind, pattern, context_words, action]);

/** @throws Refusal not_found, in_use: without its last recognizer a policy would run all of them */
export const deleteRecognizer = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedRecognizer(tx, ctx, id);
    const policies = await tx.ai_pii_policies.findMany({
      where: { ...own(ctx), recognizer_ids: { has: row.id } },
      select: { name: true },
      orderBy: { name: 'asc' },
    });
    assertUnused('recognizer_in_use', policies);
    await tx.ai_pii_recognizers.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const, id: row.id }, recognizerEntry('delete', row));
  });

const DEFAULTS = { context_words: [] as string[], confidence: 0.85, action: 'redact', format: null, enabled: true } as const;

export type RecognizerSettings = Pick<Recognizer, 'name' | 'kind' | 'pattern' | 'context_words' | 'confidence' | 'action' | 'format'>;

/** A thread compiles it, so call this before a transaction. @throws Refusal validation_error for anything that detectors couldn't run, or a whitelist that would switch them off */
export async function assertRuns(ctx: Ctx, settings: RecognizerSettings): Promise<void> {
  await assertCompiles(ctx, settings);
  assertSettings(ctx, settings);
}

function assertSettings(ctx: Ctx, settings: RecognizerSettings): void {
  assertKind(settings);
  if (settings.format !== null && settings.action !== 'tokenize') throw invalid('format', 'only applies to the action tokenize');
  if (reachOf(settings) > BUILT_IN_REACH)
    ctx.warnings.push(
      `This recognizer isn't stream-safe: it may need more than ${BUILT_IN_REACH} characters, so answers of agents that hold back no more are buffered.`,
    );
}

/** @throws Refusal validation_error */
export async function assertCompiles(
  { tenant_id }: Ctx,
  { name, kind, pattern, context_words, confidence, action, format }: RecognizerSettings,
): Promise<void> {
  assertKind({ kind, pattern });
  const problem = await problemOf({ recognizer: { name, kind, pattern, context_words, confidence, action, format } }, tenant_id);
  if (problem)
    throw invalid(
      'pattern',
      problem.kind === 'unsupported' && kind === 'regex' ? `regex_unsupported: ${problem.message}` : problem.message,
    );
}

function assertKind({ kind, pattern }: Pick<RecognizerSettings, 'kind' | 'pattern'>): void {
  if (isSidecarKind(kind)) throw invalid('kind', 'sidecar_unavailable: this deployment has no Presidio sidecar. Use regex or aho_corasick');
  if (kind === 'regex' && pattern.length > LONGEST_PATTERN)
    throw invalid('pattern', `must be at most ${grouped(LONGEST_PATTERN)} characters long`);
}

/** Judged only where a list is written: what is stored runs on. @throws Refusal validation_error */
function assertShortWords({ kind, pattern }: RecognizerSettings): void {
  if (kind === 'aho_corasick' && longestWord(pattern) > LONGEST_WORD)
    throw invalid('pattern', `must have no word or phrase of more than ${LONGEST_WORD} characters`);
}

const wordsLength = ({ kind, pattern }: { kind: string; pattern: string }): number =>
  kind === 'aho_corasick' ? Buffer.byteLength(pattern) : 0;

export const recognizerEntry = (action: string, row: RecognizerRow): AuditEntry => ({
  action,
  resource_type: 'pii_recognizer',
  resource_id: row.id,
  name: row.name,
  details: { kind: row.kind, action: row.action },
});
