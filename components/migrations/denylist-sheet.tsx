'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { PatternKind } from '#server/domain/migrations/denylist.shared.ts';

const Denylist = z.object({ glob: z.string(), regex: z.string(), tag: z.string() });
type Pattern = { pattern: string; kind: PatternKind; note: string | null };
type Match = { migration_id: string; source_name: string };
type Props = { open: boolean; readOnly: string | undefined; onClose: () => void };

/** What no migration of the workspace reads, one pattern a line. */
export function DenylistSheet({ open, readOnly, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title="Denylist"
      description="A migration lists what matches here, and never reads its value. Applies to Live and Test."
    >
      {open && <Loaded readOnly={readOnly} onClose={onClose} />}
    </Sheet>
  );
}

function Loaded(props: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const query = useQuery(trpc.migrations.getDenylist.queryOptions({}));
  if (query.isError) return <QueryError query={query} what="The denylist" />;
  if (!query.data) return <Skeleton lines={6} label="Loading the denylist" />;
  return <DenylistForm patterns={query.data.patterns} {...props} />;
}

function DenylistForm({ patterns, readOnly, onClose }: Omit<Props, 'open'> & { patterns: readonly Pattern[] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [matching, setMatching] = useState<readonly Match[]>([]);
  const lines = (kind: PatternKind) =>
    patterns
      .filter((one) => one.kind === kind)
      .map(({ pattern }) => pattern)
      .join('\n');
  const form = useZodForm({ schema: Denylist, defaultValues: { glob: lines('glob'), regex: lines('regex'), tag: lines('tag') } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const save = useMutation(
    trpc.migrations.putDenylist.mutationOptions({
      onError: refuse,
      onSuccess: ({ matching_items }) => {
        form.reset(form.getValues());
        notifyDone('Denylist saved');
        setMatching(matching_items);
        void queryClient.invalidateQueries(trpc.migrations.pathFilter());
        if (matching_items.length === 0) onClose();
      },
    }),
  );
  const noteOf = (kind: PatternKind, pattern: string) => patterns.find((one) => one.kind === kind && one.pattern === pattern)?.note ?? null;
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        save.mutate({
          patterns: (['glob', 'regex', 'tag'] as const).flatMap((kind) =>
            linesOf(value[kind]).map((pattern) => ({ kind, pattern, note: noteOf(kind, pattern) })),
          ),
        });
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      {matching.length > 0 && <Matching items={matching} />}
      <Field label="Names" optional hint="One per line. * stands for anything: rds!*" error={fieldError(form, 'glob')}>
        <Textarea mono rows={8} spellCheck={false} {...form.register('glob')} />
      </Field>
      <Field label="Regular expressions" optional hint="RE2 syntax, one per line: ^internal-[0-9]+$" error={fieldError(form, 'regex')}>
        <Textarea mono rows={3} spellCheck={false} {...form.register('regex')} />
      </Field>
      <Field label="Tags at the source" optional hint="key=value, one per line: owner=infra" error={fieldError(form, 'tag')}>
        <Textarea mono rows={3} spellCheck={false} {...form.register('tag')} />
      </Field>
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={save.isPending} disabledReason={readOnly}>
            Save denylist
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

/** What waits for review and would not be read any more; a person decides about it. */
function Matching({ items }: { items: readonly Match[] }) {
  const path = usePath();
  return (
    <Callout title={`Saved. ${counted(items.length, 'item')} in review would be denied now. Reject them in their migrations:`}>
      <ul className="flex flex-col gap-1">
        {[...Map.groupBy(items, ({ migration_id }) => migration_id)].map(([id, of]) => (
          <li key={id}>
            <Link className={textLink} href={path(`/migrations/${id}?status=pending_review`)}>
              {of
                .slice(0, 3)
                .map(({ source_name }) => source_name)
                .join(', ')}
              {of.length > 3 && ` and ${of.length - 3} more`}
            </Link>
          </li>
        ))}
      </ul>
    </Callout>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
