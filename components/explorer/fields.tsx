'use client';

import { type ReactNode, useState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { type ApiField, type ApiOperation, kindOf, withoutNull } from './document.ts';
import type { Draft } from './draft.ts';
import { pickerOf } from './field-picker.ts';
import { IdPicker } from './id-picker.tsx';

const places = [
  ['path', 'Path', 'inPath'],
  ['query', 'Query', 'inQuery'],
  ['body', 'Body', 'inBody'],
  ['headers', 'Headers', 'inHeader'],
] as const;

/** The form of an operation, made from its schema. */
export function Fields({ op, draft, onDraft }: { op: ApiOperation; draft: Draft; onDraft: (draft: Draft) => void }) {
  return places.map(([place, title, list]) =>
    op[list].length === 0 ? null : (
      <fieldset key={place} className="flex min-w-0 flex-col gap-3">
        <legend className="mb-2 font-medium text-ink-3 text-xs">{title}</legend>
        <Folded
          fields={op[list]}
          isFilled={(name) => Boolean(draft[place][name])}
          render={(field) => (
            <OneField
              key={field.name}
              field={field}
              path={op.path}
              value={draft[place][field.name] ?? ''}
              onValue={(text) => onDraft({ ...draft, [place]: { ...draft[place], [field.name]: text } })}
            />
          )}
        />
      </fieldset>
    ),
  );
}

/** More optional fields than this are folded away, but for those that hold something. */
const IN_VIEW = 6;

type FoldedProps = { fields: readonly ApiField[]; isFilled: (name: string) => boolean; render: (field: ApiField) => ReactNode };

function Folded({ fields, isFilled, render }: FoldedProps) {
  // Decided once: a field must not leave its place while it is typed in.
  const [first] = useState(() => new Set(fields.filter(({ name, required }) => required || isFilled(name)).map(({ name }) => name)));
  const rest = fields.filter(({ name }) => !first.has(name));
  if (rest.length <= IN_VIEW) return fields.map(render);
  return (
    <>
      {fields.filter(({ name }) => first.has(name)).map(render)}
      <details className="rounded-lg border border-line-strong">
        <summary className="flex h-9 cursor-pointer select-none items-center rounded-lg px-3 text-ink-2 text-xs hover:text-ink">
          {rest.length} optional fields
        </summary>
        <div className="flex flex-col gap-3 border-line-strong border-t p-3">{rest.map(render)}</div>
      </details>
    </>
  );
}

type OneFieldProps = { field: ApiField; path: string; value: string; onValue: (text: string) => void };

function OneField({ field: { name, required, schema }, path, value, onValue }: OneFieldProps) {
  const kind = kindOf(schema);
  const picker = kind === 'text' ? pickerOf(name, path) : undefined;
  const { schema: plain } = withoutNull(schema);
  return (
    <Field label={<code className="font-mono text-xs">{name}</code>} required={required} hint={hintOf(kind, plain)}>
      {picker ? (
        <IdPicker picker={picker} value={value} onValue={onValue} label={name} />
      ) : kind === 'choice' || kind === 'flag' ? (
        <Select
          options={[
            { value: '', label: 'Not set' },
            ...(kind === 'flag' ? ['true', 'false'] : (plain.enum ?? []).map(String)).map((one) => ({ value: one, label: one })),
          ]}
          value={value}
          onValueChange={onValue}
          placeholder="Not set"
        />
      ) : kind === 'secret' ? (
        <SecretInput value={value} onChange={(event) => onValue(event.target.value)} />
      ) : kind === 'json' ? (
        <Textarea mono value={value} onChange={(event) => onValue(event.target.value)} placeholder={plain.type === 'array' ? '[]' : '{}'} />
      ) : (
        <Input
          mono
          value={value}
          inputMode={kind === 'number' ? 'numeric' : undefined}
          placeholder={exampleOf(plain.examples?.[0] ?? plain.default)}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

const exampleOf = (example: unknown) =>
  example === undefined || example === null || typeof example === 'object' ? undefined : String(example);

function hintOf(kind: string, schema: ApiField['schema']): string | undefined {
  if (schema.description) return schema.description;
  if (kind === 'words') return 'Separate values with commas.';
  if (kind === 'json') return 'JSON value.';
  if (kind === 'secret') return 'Sent once and never stored, not even in your history.';
  if (schema.format === 'date-time') return 'A time, for example 2027-01-31T12:00:00Z.';
  return undefined;
}
