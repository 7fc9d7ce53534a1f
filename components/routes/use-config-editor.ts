'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { useUnsavedGuard } from '#components/ui/form.tsx';
import { type RefusalView, refusedFields } from '#components/ui/refusal.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { PutRouteEnvironment } from '#server/domain/routes/schema.ts';
import {
  type Config,
  type ConfigField,
  type Draft,
  type Origin,
  originOf,
  problemsOf,
  shownValue,
  withoutOverride,
  withValue,
} from './config-draft.ts';

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
  warnings: readonly string[];
  dirtyEnvironments: readonly string[];
};

export type ConfigEditorInput = { routeId: string; env: string; config: Config; base: Config; readOnly: string | undefined };

/** Unsaved changes of a route, one set for each environment, so that looking at another one loses nothing. */
export function useConfigEditor({ routeId, env, config, base, readOnly }: ConfigEditorInput): ConfigEditor {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<RefusalView>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const draft = drafts[env] ?? {};
  const isBase = config === base;
  const dirtyEnvironments = Object.keys(drafts).filter((name) => Object.keys(drafts[name] ?? {}).length > 0);
  useUnsavedGuard(dirtyEnvironments.length > 0);

  const replace = (next: Draft) => {
    setDrafts({ ...drafts, [env]: next });
    // A message stays until its field changes.
    setProblems(Object.fromEntries(Object.entries(problems).filter(([path]) => same(draft, next, path))));
  };
  const clear = () => {
    setDrafts({ ...drafts, [env]: {} });
    setProblems({});
    setRefusal(undefined);
  };
  const put = useMutation(
    trpc.routes.putEnvironment.mutationOptions({
      onSuccess: async (answer) => {
        await cache.invalidateQueries(trpc.routes.pathFilter());
        clear();
        setWarnings(answer.warnings ?? []);
        notifyDone(`Saved for ${env}. Calls use it from now on.`);
      },
      onError: (error) => {
        const view = refusalView(error);
        const fields = refusedFields(view, (name) => name in config);
        setProblems(fields);
        setRefusal(Object.keys(fields).length > 0 ? undefined : view);
      },
    }),
  );
  const save = () => {
    const found = problemsOf(draft, { id: routeId, env });
    setProblems(found);
    setRefusal(undefined);
    setWarnings([]);
    // The schema has just accepted exactly this; the draft's own type is that of answers, where methods are any text.
    if (Object.keys(found).length === 0) put.mutate({ id: routeId, env, ...draft } as z.input<typeof PutRouteEnvironment>);
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
    saving: put.isPending,
    refusal,
    warnings,
    dirtyEnvironments,
  };
}

const same = (a: Draft, b: Draft, path: string): boolean => {
  const field = (path.split('.')[0] ?? '') as ConfigField;
  return JSON.stringify(a[field]) === JSON.stringify(b[field]);
};
