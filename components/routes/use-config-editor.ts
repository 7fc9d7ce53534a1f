'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalView, staleOf } from '#components/trpc/refusal.ts';
import type { Choice } from '#components/ui/conflict.ts';
import { type RefusalView, refusedFields } from '#components/ui/refusal.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { PutRouteEnvironment } from '#server/domain/routes/schema.ts';
import { disagreement, type Start, settled, startOf } from './config-conflict.ts';
import {
  type Config,
  type ConfigField,
  type Draft,
  type Origin,
  originOf,
  shownValue,
  withoutOverride,
  withValue,
} from './config-draft.ts';
import type { RouteDetailData } from './route-data.ts';
import { useStoredDraft } from './use-stored-draft.ts';

export type ConfigEditor = {
  routeId: string;
  env: string;
  config: Config;
  isBase: boolean;
  baseName: string;
  draft: Draft;
  readOnly: string | undefined;
  value: <F extends ConfigField>(field: F) => Config[F];
  origin: (field: ConfigField) => Origin;
  set: <F extends ConfigField>(field: F, value: Config[F]) => void;
  revert: (field: ConfigField) => void;
  replace: (draft: Draft) => void;
  /** The message for a field; with `below`, those of its entries by name. */
  error: (field: ConfigField) => string | undefined;
  below: (field: ConfigField) => Record<string, string>;
  discard: () => void;
  save: () => void;
  saving: boolean;
  refusal: RefusalView | undefined;
  /** Somebody else saved this environment meanwhile: what to choose, and what becomes of the choice. */
  conflict: (ReturnType<typeof disagreement> & { save: (choices: Record<string, Choice>) => void; discard: () => void }) | undefined;
  warnings: readonly string[];
  dirtyEnvironments: readonly string[];
  /** Changes left unsaved here before, offered back. */
  left: ReturnType<typeof useStoredDraft>;
};

export type ConfigEditorInput = {
  routeId: string;
  env: string;
  config: Config;
  base: Config;
  updated_at: string;
  /** All environments the route is served in. */
  environments: readonly Config[];
  readOnly: string | undefined;
};

/** What came of saving an environment; `now` when somebody else had saved it meanwhile. */
type Answered = {
  problems: Readonly<Record<string, string>>;
  refusal: RefusalView | undefined;
  warnings: readonly string[];
  now: Start | undefined;
};
const NOTHING: Answered = { problems: {}, refusal: undefined, warnings: [], now: undefined };

/** The validator comes with the first change: looking at a route needs none. Without it the server says what is wrong. */
const loadProblems = () => import('./config-problems.ts').catch(() => undefined);

/** Unsaved changes of a route, one set for each environment, so that looking at another one loses nothing. */
export function useConfigEditor({ routeId, env, config, base, updated_at, environments, readOnly }: ConfigEditorInput): ConfigEditor {
  const trpc = useTRPC();
  const cache = useQueryClient();
  // What a route is set to decides, too, whether it is in step with its collection.
  const changed = () =>
    Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.collections.syncStatus.pathFilter())]);
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const [starts, setStarts] = useState<Readonly<Record<string, Start>>>({});
  const [answers, setAnswers] = useState<Readonly<Record<string, Answered>>>({});
  const draft = drafts[env] ?? {};
  const isBase = config === base;
  const start = starts[env] ?? { config, isBase, updated_at };
  const { problems, refusal, warnings, now } = answers[env] ?? NOTHING;
  const tell = (at: string, change: Partial<Answered>) => setAnswers((all) => ({ ...all, [at]: { ...(all[at] ?? NOTHING), ...change } }));
  const dirtyEnvironments = Object.keys(drafts).filter((name) => Object.keys(drafts[name] ?? {}).length > 0);
  useUnsavedGuard(dirtyEnvironments.length > 0);
  const left = useStoredDraft(routeId, drafts, starts, {
    now: Object.fromEntries(environments.map((one) => [one.environment_name, { config: one, isBase: one === base, updated_at }])),
    onRestore: (kept) => {
      setDrafts({ ...drafts, ...kept.drafts });
      setStarts({ ...starts, ...kept.starts });
    },
  });

  const replace = (next: Draft) => {
    void loadProblems();
    setDrafts({ ...drafts, [env]: next });
    // The version this edit compares with is the one on the page when it began, however often the page refreshes behind it.
    if (Object.keys(draft).length === 0) setStarts({ ...starts, [env]: { config, isBase, updated_at } });
    // A message stays until its field changes.
    tell(env, { problems: Object.fromEntries(Object.entries(problems).filter(([path]) => same(draft, next, path))) });
  };
  const clear = () => {
    setDrafts({ ...drafts, [env]: {} });
    tell(env, NOTHING);
  };
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({
      // Another environment may be on the page by the time the answer is here, and more may have been typed.
      onSuccess: async (answer, sent) => {
        await changed();
        setDrafts((all) => ({ ...all, [sent.env]: typedSince(all[sent.env] ?? {}, sent) }));
        setStarts(({ [sent.env]: _, ...others }) => others);
        tell(sent.env, { ...NOTHING, warnings: answer.warnings ?? [] });
        notifyDone(`Saved in ${sent.env}`);
      },
      onError: (error, sent) => {
        const stale = staleOf<RouteDetailData>(error);
        const current = stale && startOf(stale.current, sent.env, stale.current_updated_at);
        if (current) {
          const from = starts[sent.env] ?? start;
          const clash = disagreement(from, current, drafts[sent.env] ?? {}).differences.length > 0;
          return clash ? tell(sent.env, { now: current }) : goOn(sent.env, from, current, {});
        }
        const view = refusalView(error);
        const fields = refusedFields(view, (name) => name in config);
        tell(sent.env, { problems: fields, refusal: Object.keys(fields).length > 0 ? undefined : view });
      },
    }),
  );
  const save = async () => {
    const found = (await loadProblems())?.problemsOf(draft, { id: routeId, env }) ?? {};
    tell(env, { problems: found, refusal: undefined, warnings: [] });
    // The schema has accepted exactly this; the draft's own type is that of answers, where methods are any text.
    if (Object.keys(found).length === 0) send(env, draft, start.updated_at);
  };
  const discard = () => {
    clear();
    void changed();
  };
  const send = (at: string, body: Draft, expected_updated_at: string): void =>
    put.mutate({ id: routeId, env: at, ...body, expected_updated_at } as z.input<typeof PutRouteEnvironment> & {
      expected_updated_at: string;
    });
  const goOn = (at: string, from: Start, current: Start, choices: Record<string, Choice>): void => {
    const next = settled(from, current, drafts[at] ?? {}, choices);
    setDrafts((all) => ({ ...all, [at]: next }));
    setStarts((all) => ({ ...all, [at]: current }));
    tell(at, NOTHING);
    if (Object.keys(next).length > 0) send(at, next, current.updated_at);
    else void changed();
  };
  return {
    routeId,
    env,
    config,
    isBase,
    baseName: base.environment_name,
    draft,
    readOnly,
    value: (field) => shownValue(field, config, base, draft),
    origin: (field) => originOf(field, config, isBase, draft),
    set: (field, value) => replace(withValue(draft, config, field, value, isBase)),
    revert: (field) => replace(withoutOverride(draft, config, field)),
    replace,
    error: (field) =>
      problems[field] ??
      Object.entries(problems).find(([path]) => /^\d/.test(path.slice(field.length + 1)) && path.startsWith(`${field}.`))?.[1],
    below: (field) =>
      Object.fromEntries(
        Object.entries(problems).flatMap(([path, message]) =>
          path.startsWith(`${field}.`) ? [[path.slice(field.length + 1), message]] : [],
        ),
      ),
    discard: clear,
    save,
    saving: put.isPending && put.variables.env === env,
    refusal,
    conflict: now && {
      ...disagreement(start, now, draft),
      save: (choices) => goOn(env, start, now, choices),
      discard,
    },
    warnings,
    dirtyEnvironments,
    left: readOnly ? undefined : left,
  };
}

/** What of a draft is other than what was sent. */
const typedSince = (draft: Draft, sent: object): Draft => {
  const was: Record<string, unknown> = { ...sent };
  return Object.fromEntries(Object.entries(draft).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(was[field])));
};

const same = (a: Draft, b: Draft, path: string): boolean => {
  const field = (path.split('.')[0] ?? '') as ConfigField;
  return JSON.stringify(a[field]) === JSON.stringify(b[field]);
};
