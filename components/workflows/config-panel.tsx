'use client';

import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Pin, PinOff, Plus, Trash2, X } from 'lucide-react';
import { useMemo } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { Select } from '#components/ui/select.tsx';
import type { Problem } from '#server/domain/workflows/definition.shared.ts';
import { type Config, ConfigContext } from './config-rows.tsx';
import {
  cannotConnect,
  configOf,
  type Document,
  outletOf,
  type Place,
  type Step,
  sampleOf,
  TRIGGER_ID,
  withConfig,
  withEdge,
  withName,
  without,
  withoutStrayEdges,
  withSample,
} from './document.ts';
import { SuggestionsContext } from './expression-input.tsx';
import { StepFields } from './step-fields.tsx';
import { kindOf, outletsOf } from './step-kinds.ts';
import { type Outputs, suggestionsFor } from './suggestions.ts';

export type ConfigPanelProps = {
  doc: Document;
  step: Step;
  problems: readonly Problem[];
  outputs: Outputs;
  readOnly: boolean;
  edit: (change: (doc: Document) => Document, group?: string) => void;
  onAdd: (place: Place) => void;
  onTest: () => void;
  onSelect: (id: string) => void;
  onClose: () => void;
};

/** Everything about one step: its name, settings and problems, what comes next, and what it last gave. */
export function ConfigPanel({ doc, step, problems, outputs, readOnly, edit, onAdd, onTest, onSelect, onClose }: ConfigPanelProps) {
  const trpc = useTRPC();
  const { label, about, icon: Icon } = kindOf(step.type);
  const cannotName = useForbidden('secret:read');
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled: !cannotName && !readOnly }));
  const values = useMemo(() => suggestionsFor(doc, step.id, outputs), [doc, step.id, outputs]);
  const names = useMemo(() => (secrets.data?.data ?? []).map(({ name }) => name), [secrets.data]);
  const around = useMemo(() => ({ values, secrets: names }), [values, names]);
  const config = configOf(step);
  const set = (change: Config, group?: string) =>
    edit((now) => withoutStrayEdges(withConfig(now, step.id, change)), group && `${step.id}-${group}`);
  const tests = step.type !== 'trigger' && step.type !== 'error_handler';
  return (
    <aside aria-label={`Settings of ${step.name ?? label}`} className="flex min-h-0 w-full flex-col border-line-strong border-l bg-overlay">
      <div className="flex items-start gap-2 border-line border-b px-4 py-2.5">
        <Icon aria-hidden className="mt-1 size-4 shrink-0 text-ink-3" />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{step.name || label}</h2>
          <p className="text-ink-3 text-xs">{about}</p>
        </div>
        <IconButton size="sm" label="Close" keys="escape" icon={<X />} onClick={onClose} />
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto overscroll-contain px-4 py-3">
        {problems.map(({ message, severity }) => (
          <Callout key={message} tone={severity === 'error' ? 'bad' : 'warn'} title={message} />
        ))}
        <Field label="Name" optional hint={<CopyText value={step.id === TRIGGER_ID ? 'trigger' : step.id} label="name in expressions" />}>
          <Input
            value={step.name ?? ''}
            placeholder={label}
            maxLength={100}
            disabled={readOnly}
            onChange={({ target }) => edit((now) => withName(now, step.id, target.value), `${step.id}-name`)}
          />
        </Field>
        <ConfigContext value={{ config, set, readOnly }}>
          <SuggestionsContext value={around}>
            <StepFields key={step.id} type={step.type} doc={doc} id={step.id} />
          </SuggestionsContext>
        </ConfigContext>
        <Next doc={doc} step={step} readOnly={readOnly} edit={edit} onAdd={onAdd} onSelect={onSelect} />
        <LastOutput step={step} outputs={outputs} readOnly={readOnly} edit={edit} />
      </div>
      {!readOnly && (
        <div className="flex items-center justify-between gap-2 border-line border-t px-4 py-2.5">
          {tests ? (
            <Button size="sm" icon={<FlaskConical />} onClick={onTest}>
              Test this step
            </Button>
          ) : (
            <span />
          )}
          {step.id !== TRIGGER_ID && (
            <IconButton
              size="sm"
              label="Delete step"
              keys="delete"
              icon={<Trash2 />}
              onClick={() => edit((now) => without(now, [step.id]))}
            />
          )}
        </div>
      )}
    </aside>
  );
}

type NextProps = Pick<ConfigPanelProps, 'doc' | 'step' | 'readOnly' | 'edit' | 'onAdd' | 'onSelect'>;

/** Where each output leads, without a pointer: the same that dragging on the canvas does. */
function Next({ doc, step, readOnly, edit, onAdd, onSelect }: NextProps) {
  return (
    <section className="flex flex-col gap-2 border-line border-t pt-3">
      <h3 className="font-medium text-sm">Then</h3>
      {outletsOf(step).map((outlet) => {
        const ways = doc.edges.filter((edge) => edge.source === step.id && outletOf(edge) === outlet.id);
        const targets = doc.nodes.filter(({ id }) => !cannotConnect(doc, step.id, outlet.id, id));
        return (
          <div key={outlet.id} className="flex flex-col gap-1">
            <span className="text-ink-3 text-xs">{outlet.label}</span>
            {ways.map((edge) => {
              const target = doc.nodes.find(({ id }) => id === edge.target);
              const name = target?.name || (target ? `${kindOf(target.type).label} (${target.id})` : edge.target);
              return (
                <span key={edge.id} className="flex items-center gap-1">
                  <Button size="sm" variant="ghost" className="min-w-0 flex-1 justify-start truncate" onClick={() => onSelect(edge.target)}>
                    {name}
                  </Button>
                  {!readOnly && (
                    <IconButton
                      size="sm"
                      label={`Disconnect ${name}`}
                      icon={<X />}
                      onClick={() => edit((now) => without(now, [], [edge.id]))}
                    />
                  )}
                </span>
              );
            })}
            {!readOnly && (
              <span className="flex gap-1">
                <Button size="sm" icon={<Plus />} onClick={() => onAdd({ after: step.id, outlet: outlet.id })}>
                  Add step
                </Button>
                {targets.length > 0 && (
                  <Select
                    size="sm"
                    label={`Connect ${outlet.label} to a step`}
                    placeholder="Connect to…"
                    value={null}
                    options={targets.map((target) => ({ value: target.id, label: target.name || target.id }))}
                    onValueChange={(target) => edit((now) => withEdge(now, step.id, outlet.id, target))}
                  />
                )}
              </span>
            )}
          </div>
        );
      })}
    </section>
  );
}

/** What the step gave in the last run, and the sample that stands in for it in tests. */
function LastOutput({ step, outputs, readOnly, edit }: Pick<ConfigPanelProps, 'step' | 'outputs' | 'readOnly' | 'edit'>) {
  const sample = sampleOf(step);
  const last = outputs.get(step.id);
  const shown = sample ?? last;
  if (shown === undefined) return null;
  const large = JSON.stringify(shown).length > 32_768;
  return (
    <section className="flex flex-col gap-2 border-line border-t pt-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium text-sm">{sample === undefined ? 'Output of the last run' : 'Sample'}</h3>
        {!readOnly &&
          (sample === undefined ? (
            <Button
              size="sm"
              variant="ghost"
              icon={<Pin />}
              disabledReason={large ? 'A sample has at most 32 KB.' : undefined}
              onClick={() => edit((now) => withSample(now, step.id, last))}
            >
              Keep as sample
            </Button>
          ) : (
            <Button size="sm" variant="ghost" icon={<PinOff />} onClick={() => edit((now) => withSample(now, step.id, undefined))}>
              Let go
            </Button>
          ))}
      </div>
      {sample !== undefined && (
        <p className="text-ink-3 text-xs">Tests of later steps use it. Runs never do. Whoever can read this workflow can read it.</p>
      )}
      <JsonView value={shown as Json} label="Output" depth={1} />
    </section>
  );
}
