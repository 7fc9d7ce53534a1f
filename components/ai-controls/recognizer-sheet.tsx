'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreatePiiRecognizer, PII_ACTIONS, TOKEN_FORMATS } from '#server/domain/ai-controls/schema.ts';
import { ACTION_HINTS, ACTION_LABELS, ACTION_TONES, type RecognizerRow } from './labels.ts';
import { MarkedText } from './marked-text.tsx';

const FORM = 'recognizer-form';
const LABELS = {
  name: 'Name',
  pattern: 'Pattern',
  context_words: 'Context words',
  action: 'Action',
  format: 'Token format',
  enabled: 'Enabled',
};
const valuesOf = ({ name, kind, pattern, context_words, confidence, action, format, enabled }: RecognizerRow) => ({
  name,
  kind,
  pattern,
  context_words,
  confidence,
  action,
  format,
  enabled,
});

/** Makes or changes a recognizer, and tries it on a text. */
export function RecognizerSheet(props: { open: boolean; recognizer: RecognizerRow | undefined; onClose: () => void }) {
  const { open, recognizer, onClose } = props;
  const readOnly = useForbidden('ai_gateway:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={recognizer ? recognizer.name : 'New recognizer'}
      description={recognizer ? undefined : 'Runs beside the built-in detectors on every call, or where a policy lists it.'}
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {recognizer ? 'Save' : 'Create recognizer'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={recognizer?.id ?? 'new'}
          recognizer={recognizer}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}

type FieldsProps = { recognizer: RecognizerRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ recognizer, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({
    schema: CreatePiiRecognizer,
    defaultValues: recognizer
      ? valuesOf(recognizer)
      : { name: '', kind: 'regex', pattern: '', context_words: [], action: 'redact', format: null, enabled: true },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: recognizer,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `ai-pii-recognizers/${recognizer?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    forget();
    notifyDone(recognizer ? 'Saved' : `${row.name} created`);
    await cache.invalidateQueries(trpc.aiControls.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.aiControls.createRecognizer.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.aiControls.updateRecognizer.mutationOptions({ onSuccess: saved, onError: refuse }));
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const kind = values.kind ?? 'regex';
  const action = values.action ?? 'redact';
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = recognizer
          ? update.mutateAsync({ id: recognizer.id, ...value, expected_updated_at: started() })
          : create.mutateAsync(value);
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint="Placeholders and tokens name it: member_id becomes <MEMBER_ID>.">
        <Input mono placeholder="member_id" {...form.register('name')} />
      </Field>
      <Field label="Kind" error={fieldError(form, 'kind')}>
        <Select
          options={[
            { value: 'regex', label: 'Pattern' },
            { value: 'aho_corasick', label: 'Word list' },
          ]}
          value={kind === 'aho_corasick' ? kind : 'regex'}
          onValueChange={(value) => form.setValue('kind', value, { shouldDirty: true })}
        />
      </Field>
      <Field
        label={kind === 'aho_corasick' ? 'Words' : 'Pattern'}
        required
        error={fieldError(form, 'pattern')}
        hint={
          kind === 'aho_corasick'
            ? 'One word or phrase per line, at most 256 characters each and 10,000 in all, in 256 KiB. Case doesn’t matter.'
            : 'RE2 syntax, without look-around and back-references. At most 2,000 characters, and 1,000 instructions once repetitions are written out: [0-9]{6} is about six.'
        }
      >
        <Textarea
          mono
          rows={kind === 'aho_corasick' ? 6 : 2}
          placeholder={kind === 'aho_corasick' ? 'Project X' : 'MEM-[0-9]{6}'}
          {...form.register('pattern')}
        />
      </Field>
      <Field
        label="Context words"
        optional
        error={fieldError(form, 'context_words')}
        hint="Separated by commas. One must be within 50 characters."
      >
        <Input
          placeholder="member, subscriber"
          defaultValue={(values.context_words ?? []).join(', ')}
          onChange={(event) =>
            form.setValue(
              'context_words',
              event.target.value
                .split(',')
                .map((word) => word.trim())
                .filter(Boolean),
              { shouldDirty: true },
            )
          }
        />
      </Field>
      <Field label="Action" error={fieldError(form, 'action')} hint={ACTION_HINTS[action]}>
        <Select
          options={PII_ACTIONS.map((value) => ({ value, label: ACTION_LABELS[value] }))}
          value={action}
          onValueChange={(value) => {
            form.setValue('action', value, { shouldDirty: true });
            if (value !== 'tokenize') form.setValue('format', null);
          }}
        />
      </Field>
      {action === 'tokenize' && (
        <Field
          label="Token format"
          error={fieldError(form, 'format')}
          hint="fpe keeps the form of the value: MEM-123456 becomes MEM-583920."
        >
          <Select
            options={TOKEN_FORMATS.map((value) => ({ value, label: value }))}
            value={values.format ?? 'generic'}
            onValueChange={(value) => form.setValue('format', value, { shouldDirty: true })}
          />
        </Field>
      )}
      <Checkbox
        checked={values.enabled ?? true}
        onCheckedChange={(on) => form.setValue('enabled', on, { shouldDirty: true })}
        label="Enabled"
        description="Clear this to mute the recognizer and keep its definition."
      />
      <TryIt pattern={values.pattern ?? ''} kind={kind} action={action} words={values.context_words ?? []} name={values.name ?? ''} />
      <ApiEquivalent
        method={recognizer ? 'PATCH' : 'POST'}
        path={recognizer ? `/ai-gateway/pii-recognizers/${recognizer.id}` : '/ai-gateway/pii-recognizers'}
        body={Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== ''))}
      />
    </Form>
  );
}

type Tried = { pattern: string; kind: RecognizerRow['kind']; action: RecognizerRow['action']; words: string[]; name: string };

/** The definition of the form on a text of one's own, before it is saved. */
function TryIt({ pattern, kind, action, words, name }: Tried) {
  const trpc = useTRPC();
  const [text, setText] = useState('');
  const run = useMutation(trpc.aiControls.testRecognizer.mutationOptions({ gcTime: 0 }));
  const missing = pattern === '' ? 'Enter a pattern first' : text === '' ? 'Enter a text first' : undefined;
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <Field label="Try it" hint="The text is neither stored nor logged.">
        <Textarea
          rows={2}
          placeholder="member MEM-123456"
          value={text}
          maxLength={20_000}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <div>
        <Button
          loading={run.isPending}
          disabledReason={missing}
          onClick={() =>
            run.mutate({ pattern, text, kind, action, context_words: words, ...(/^[a-z0-9_]{2,64}$/.test(name) ? { name } : {}) })
          }
        >
          Test
        </Button>
      </div>
      <ApiEquivalent
        method="POST"
        path="/ai-gateway/pii-recognizers/test"
        body={{ pattern: pattern || 'PATTERN', text: text || 'TEXT', kind, action, context_words: words }}
      />
      <MutationError error={run.error} />
      <div aria-live="polite">
        {run.data &&
          (run.data.matched ? (
            <MarkedText
              text={run.variables?.text ?? ''}
              marks={run.data.matches.map(({ span, replacement }) => ({ span, title: replacement, tone: markTone(action) }))}
            />
          ) : (
            <p className="text-ink-2">No match.</p>
          ))}
      </div>
    </div>
  );
}

const markTone = (action: RecognizerRow['action']) => {
  const tone = ACTION_TONES[action];
  return tone === 'bad' || tone === 'accent' || tone === 'warn' ? tone : 'neutral';
};
