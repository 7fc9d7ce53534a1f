'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSettledText } from '#components/ui/use-settled.ts';
import type { Command } from './commands.ts';
import { commonStart, completed, type Option, type Slot, slotAt } from './complete.ts';
import { lookupProblem } from './failure.ts';
import { isPrivate } from './redact-line.ts';
import { idsOf, LookupFailed, namesIn, type Sources, wordFor } from './resource-names.ts';

const PAUSE_MS = 150;

/** What the word at the end of `text` may become: of the API's own words at once, of the person's things when they have been asked for. */
export function useCompletion(text: string, commands: readonly Command[], sources: Sources) {
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const [waited, setWaited] = useState<string>();
  const slot = slotAt(text, commands);
  // Of the line no more than what is asked for: anything may stand elsewhere in it.
  const wanted =
    slot.names && !isPrivate(slot.typed) ? JSON.stringify([slot.names.list.op.id, slot.names.parents, slot.names.list.by, slot.typed]) : '';
  const settled = useSettledText(wanted, PAUSE_MS);
  const names = useQuery({
    queryKey: ['shell-options', settled],
    // Not while somebody types: only a word they want completed leaves this page before Enter.
    enabled: open && settled !== '' && settled === wanted,
    staleTime: 10_000,
    gcTime: 60_000,
    retry: false,
    queryFn: () => namesOf(slot, sources),
  });
  const found = settled === wanted ? (names.data ?? []) : [];
  const options = [...slot.options, ...(wanted === '' ? [] : found)];
  const chosen = Math.min(at, options.length - 1);
  const isMissing = wanted !== '' && (settled !== wanted || names.isPending || (names.isError && names.isFetching));
  const problem = wanted !== '' && settled === wanted && !names.isFetching && names.error ? lookupProblem(names.error) : undefined;
  const [only, ...others] = options;
  const sure = only && others.length === 0 && !isMissing && !problem ? completed(text, slot, only.value) : undefined;
  const close = () => {
    setOpen(false);
    setWaited(undefined);
  };
  return {
    options,
    chosen,
    open: open && (options.length > 0 || isMissing || problem !== undefined),
    looking: isMissing,
    /** Why the person's things are not among the options. */
    problem,
    /** The text completed to the only option there is, which came after Tab was pressed for it. */
    late: waited === text ? sure : undefined,
    close,
    move: (step: number) => options.length > 0 && setAt((chosen + step + options.length) % options.length),
    /** The text with the option in it. */
    take: (option: Option) => {
      close();
      return completed(text, slot, option.value);
    },
    /** What Tab does: the text as far as it is sure, and the list where it is not. Undefined where there is nothing to complete. */
    tab: (): string | undefined => {
      if (sure !== undefined) close();
      if (sure !== undefined || (!only && wanted === '')) return sure;
      setAt(0);
      setOpen(true);
      setWaited(text);
      // Tab again asks again.
      if (problem && open) void names.refetch();
      if (isMissing) return text;
      const start = commonStart(options.map(({ value }) => value));
      return start.length > slot.typed.length && /^[\w-]+$/.test(start) ? text.slice(0, slot.from) + start : text;
    },
  };
}

async function namesOf({ names, typed }: Slot, sources: Sources): Promise<Option[]> {
  if (!names) return [];
  const { command, list } = names;
  const parents = await idsOf(command, names.parents, sources).catch((error: unknown) => {
    if (error instanceof LookupFailed) throw error;
    return {}; // the line as it stands can't be sent; Enter says why
  });
  const { found } = await namesIn(list, parents, typed, sources);
  const like = typed.toLowerCase();
  return found
    .filter((one) => [one.id, ...one.names].some((text) => text.toLowerCase().includes(like)))
    .slice(0, 50)
    .map((one) => {
      const value = wordFor(one, found, list.by);
      return { value, detail: one.title === value ? undefined : one.title };
    });
}
