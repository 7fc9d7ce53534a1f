'use client';

import { Plus, Trash2 } from 'lucide-react';
import { createContext, useContext, useState } from 'react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { ExpressionInput } from './expression-input.tsx';

export type Config = Record<string, unknown>;
/** The configuration under edit: a row reads its key and writes it. `group` makes a run of letters one step back. */
export const ConfigContext = createContext<{ config: Config; set: (change: Config, group?: string) => void; readOnly: boolean }>({
  config: {},
  set: () => undefined,
  readOnly: true,
});

export const useConfig = () => useContext(ConfigContext);
export const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

type RowProps = { name: string; label: string; hint?: string; required?: boolean; optional?: boolean };

/** A text that may hold expressions; emptied, an optional one is taken out. */
export function TextRow({
  name,
  label,
  hint,
  required,
  optional,
  ...input
}: RowProps & { placeholder?: string; tall?: boolean; bare?: boolean; secrets?: boolean }) {
  const { config, set, readOnly } = useConfig();
  return (
    <Field label={label} {...(hint ? { hint } : {})} {...(required ? { required } : {})} {...(optional ? { optional } : {})}>
      <ExpressionInput
        {...input}
        value={textOf(config[name])}
        disabled={readOnly}
        onChange={(text) => set({ [name]: text === '' && optional ? undefined : text }, name)}
      />
    </Field>
  );
}

/** One of a few; the first is what holds without a choice. */
export function SelectRow<V extends string>({
  name,
  label,
  hint,
  options,
}: RowProps & { options: readonly { value: V; label: string }[] }) {
  const { config, set, readOnly } = useConfig();
  const value = (config[name] ?? options[0]?.value) as V;
  return (
    <Field label={label} {...(hint ? { hint } : {})}>
      <Select value={value} onValueChange={(next) => set({ [name]: next })} options={options} disabled={readOnly} />
    </Field>
  );
}

export function NumberRow({ name, label, hint, placeholder }: RowProps & { placeholder?: string }) {
  const { config, set, readOnly } = useConfig();
  return (
    <Field label={label} {...(hint ? { hint } : {})}>
      <Input
        inputMode="numeric"
        className="w-32"
        disabled={readOnly}
        placeholder={placeholder}
        value={textOf(config[name])}
        onChange={({ target: { value } }) => set({ [name]: value === '' ? undefined : /^\d+$/.test(value) ? Number(value) : value }, name)}
      />
    </Field>
  );
}

export function CheckRow({
  name,
  label,
  description,
  fallback = false,
}: {
  name: string;
  label: string;
  description?: string;
  fallback?: boolean;
}) {
  const { config, set, readOnly } = useConfig();
  return (
    <Checkbox
      label={label}
      {...(description ? { description } : {})}
      disabled={readOnly}
      checked={typeof config[name] === 'boolean' ? config[name] : fallback}
      onCheckedChange={(on) => set({ [name]: on })}
    />
  );
}

/** A JSON value, written as text: what can't be read is said, and nothing is changed until it can. */
export function JsonRow({ name, label, hint, optional }: RowProps) {
  const { config, set, readOnly } = useConfig();
  const stored = config[name] === undefined ? '' : JSON.stringify(config[name], null, 2);
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const text = typed && typed.of === stored ? typed.text : stored;
  const problem = text === '' ? undefined : unreadable(text);
  return (
    <Field label={label} {...(optional ? { optional } : {})} hint={hint ?? 'Texts may hold {{expressions}}.'} error={problem}>
      <Textarea
        mono
        rows={5}
        disabled={readOnly}
        value={text}
        onChange={({ target: { value } }) => {
          if (value !== '' && unreadable(value)) return setTyped({ text: value, of: stored });
          const next = value === '' ? undefined : parseExact(value);
          setTyped({ text: value, of: next === undefined ? '' : JSON.stringify(next, null, 2) });
          set({ [name]: next }, name);
        }}
      />
    </Field>
  );
}

function unreadable(text: string): string | undefined {
  try {
    parseExact(text);
    return undefined;
  } catch {
    return 'This isn’t valid JSON yet. It is saved once it is.';
  }
}

/** Names with values: headers, a query, fields. */
export function PairsRow({ name, label, hint, secrets, noun }: RowProps & { secrets?: boolean; noun: string }) {
  const { config, set, readOnly } = useConfig();
  const stored = Object.entries((config[name] ?? {}) as Record<string, unknown>);
  // A pair under a name that is not there yet, or twice, can't stand in an object: it waits here.
  const [loose, setLoose] = useState<{ key: string; value: string }[]>([]);
  const rename = (from: string, to: string) => {
    if (to === '' || stored.some(([key]) => key === to)) return;
    set({ [name]: Object.fromEntries(stored.map(([key, value]) => [key === from ? to : key, value])) }, `${name}-key`);
  };
  const settle = (index: number) => {
    const pair = loose[index];
    if (!pair || pair.key.trim() === '' || stored.some(([key]) => key === pair.key.trim())) return;
    set({ [name]: { ...Object.fromEntries(stored), [pair.key.trim()]: pair.value } });
    setLoose(loose.filter((_, at) => at !== index));
  };
  return (
    <Field group label={label} {...(hint ? { hint } : {})}>
      <div className="flex flex-col gap-2">
        {stored.map(([key, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the key of a pair changes while it is typed.
          <div key={index} className="flex flex-col gap-1 rounded-md border border-line p-1.5">
            <div className="flex gap-1">
              <Input
                mono
                size="sm"
                aria-label={`Name of ${noun} ${index + 1}`}
                disabled={readOnly}
                defaultValue={key}
                key={key}
                onBlur={({ target }) => {
                  rename(key, target.value.trim());
                  target.value = target.value.trim() || key;
                }}
              />
              <IconButton
                size="sm"
                label={`Remove ${key}`}
                icon={<Trash2 />}
                disabled={readOnly}
                onClick={() => set({ [name]: Object.fromEntries(stored.filter(([one]) => one !== key)) })}
              />
            </div>
            <ExpressionInput
              label={`Value of ${key}`}
              value={textOf(value)}
              disabled={readOnly}
              {...(secrets ? { secrets } : {})}
              onChange={(text) => set({ [name]: { ...Object.fromEntries(stored), [key]: text } }, `${name}-${key}`)}
            />
          </div>
        ))}
        {loose.map((pair, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no names yet.
          <div key={`new-${index}`} className="flex gap-1">
            <Input
              mono
              size="sm"
              autoFocus
              aria-label={`Name of the new ${noun}`}
              placeholder="Name"
              value={pair.key}
              onChange={({ target }) => setLoose(loose.map((one, at) => (at === index ? { ...one, key: target.value } : one)))}
              onBlur={() => settle(index)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return;
                event.preventDefault();
                settle(index);
              }}
            />
            <IconButton size="sm" label="Remove" icon={<Trash2 />} onClick={() => setLoose(loose.filter((_, at) => at !== index))} />
          </div>
        ))}
        {!readOnly && (
          <div>
            <Button size="sm" variant="ghost" icon={<Plus />} onClick={() => setLoose([...loose, { key: '', value: '' }])}>
              Add {noun}
            </Button>
          </div>
        )}
      </div>
    </Field>
  );
}
