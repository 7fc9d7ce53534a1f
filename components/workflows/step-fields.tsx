'use client';

import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { CheckRow, JsonRow, NumberRow, PairsRow, SelectRow, TextRow, textOf, useConfig } from './config-rows.tsx';
import { type Document, TRIGGER_ID } from './document.ts';
import { ExpressionInput } from './expression-input.tsx';
import { HttpFields, RouteFields } from './request-fields.tsx';
import { EMPTY_RULE, type Rules, RulesEditor } from './rules-editor.tsx';
import { TriggerFields } from './trigger-fields.tsx';

/** The settings of one step, by its kind. */
export function StepFields({ type, doc, id }: { type: string; doc: Document; id: string }) {
  switch (type) {
    case 'trigger':
      return <TriggerFields />;
    case 'http_request':
      return <HttpFields />;
    case 'route_request':
      return <RouteFields />;
    case 'email':
      return (
        <>
          <RecipientsRow />
          <TextRow name="subject" label="Subject" required />
          <TextRow name="text" label="Text" tall optional />
          <TextRow name="html" label="HTML" tall optional hint="Instead of, or besides, the text." />
          <TextRow name="replyTo" label="Reply to" optional />
        </>
      );
    case 'sms':
      return (
        <>
          <TextRow name="to" label="To" required hint="A number such as +4915112345678." />
          <TextRow name="text" label="Text" tall required hint="At most 1,000 characters. In Test nothing is sent." />
        </>
      );
    case 'transform':
      return <TransformFields />;
    case 'condition':
      return <ConditionFields />;
    case 'router':
      return <RouterFields />;
    case 'loop':
      return (
        <>
          <TextRow
            name="items"
            label="List"
            required
            placeholder="{{http_1.body.items}}"
            hint="In the body, {{…item}} and {{…index}} of this step are the current one."
          />
          <NumberRow name="concurrency" label="At once" placeholder="1" hint="1 to 10." />
          <NumberRow name="maxIterations" label="Most items" placeholder="1000" hint="1 to 1,000." />
          <SelectRow
            name="onItemError"
            label="When an item fails"
            options={[
              { value: 'stop', label: 'Stop the loop' },
              { value: 'continue', label: 'Go on with the next' },
            ]}
          />
        </>
      );
    case 'delay':
      return <DelayFields />;
    case 'error_handler':
      return <HandlerFields doc={doc} id={id} />;
    case 'set_response':
      return (
        <>
          <Callout title="Needs a webhook trigger whose caller waits">Set “The caller gets” of the trigger to what this step says.</Callout>
          <NumberRow name="status" label="Status" placeholder="200" />
          <PairsRow name="headers" label="Headers" noun="header" />
          <JsonRow name="body" label="Body" optional />
        </>
      );
    case 'code':
      return <CodeFields />;
    default:
      return <Callout tone="warn" title={`This release doesn’t know steps of type ${type}`} />;
  }
}

/** One address, or several with commas between them: stored as a text, or as a list. */
function RecipientsRow() {
  const { config, set, readOnly } = useConfig();
  const stored = Array.isArray(config.to) ? config.to.join(', ') : textOf(config.to);
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const change = (text: string) => {
    const list = text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
    setTyped({ text, of: list.join(', ') });
    set({ to: list.length > 1 ? list : (list[0] ?? '') }, 'to');
  };
  return (
    <Field label="To" required hint="Up to ten addresses, separated by commas. In Test only members get mail.">
      <ExpressionInput value={typed?.of === stored ? typed.text : stored} disabled={readOnly} onChange={change} />
    </Field>
  );
}

function TransformFields() {
  const { config, set, readOnly } = useConfig();
  const byFields = config.template === undefined;
  return (
    <>
      <Segmented
        label="How the value is built"
        value={byFields ? 'fields' : 'template'}
        onValueChange={(how) =>
          readOnly || set(how === 'fields' ? { template: undefined, fields: {} } : { fields: undefined, template: {} })
        }
        options={[
          { value: 'fields', label: 'Field by field' },
          { value: 'template', label: 'As JSON' },
        ]}
      />
      {byFields ? (
        <PairsRow name="fields" label="Fields" noun="field" hint="A field that is one {{expression}} keeps its type." />
      ) : (
        <JsonRow name="template" label="Template" />
      )}
    </>
  );
}

function ConditionFields() {
  const { config, set, readOnly } = useConfig();
  const mode = config.mode === 'expression' ? 'expression' : 'rules';
  return (
    <>
      <Segmented
        label="Kind of condition"
        value={mode}
        onValueChange={(next) => readOnly || set({ mode: next })}
        options={[
          { value: 'rules', label: 'Rules' },
          { value: 'expression', label: 'Expression' },
        ]}
      />
      {mode === 'rules' ? (
        <RulesEditor rules={(config.rules ?? {}) as Rules} readOnly={readOnly} onChange={(rules, group) => set({ rules }, group)} />
      ) : (
        <TextRow
          name="expression"
          label="Expression"
          tall
          bare
          required
          placeholder="trigger.data.status >= 500 && trigger.data.environment === 'production'"
          hint="Without braces. Knows === !== < > <= >= && || ! and includes(), startsWith(), endsWith()."
        />
      )}
    </>
  );
}

type Branch = { id: string; label?: string; rules?: Rules; expression?: string };

function RouterFields() {
  const { config, set, readOnly } = useConfig();
  const routes = (Array.isArray(config.routes) ? config.routes : []) as Branch[];
  const put = (index: number, change: Partial<Branch>, group?: string) =>
    set({ routes: routes.map((route, at) => (at === index ? { ...route, ...change } : route)) }, group);
  const add = () => {
    let number = routes.length + 1;
    while (routes.some(({ id }) => id === `route_${number}`)) number += 1;
    set({ routes: [...routes, { id: `route_${number}`, label: `Route ${number}`, rules: { combinator: 'and', rules: [EMPTY_RULE] } }] });
  };
  return (
    <>
      <SelectRow
        name="match"
        label="Goes on by"
        options={[
          { value: 'first', label: 'The first route that fits' },
          { value: 'all', label: 'Every route that fits' },
        ]}
      />
      {routes.map((route, index) => (
        <div key={route.id} className="flex flex-col gap-2 rounded-lg border border-line-strong p-2">
          <div className="flex gap-1">
            <Input
              size="sm"
              aria-label={`Name of route ${index + 1}`}
              value={route.label ?? route.id}
              disabled={readOnly}
              onChange={({ target }) => put(index, { label: target.value }, `label-${index}`)}
            />
            <IconButton
              size="sm"
              label={`Remove ${route.label ?? route.id}`}
              icon={<Trash2 />}
              disabled={readOnly}
              onClick={() => set({ routes: routes.filter((_, at) => at !== index) })}
            />
          </div>
          {route.expression === undefined ? (
            <RulesEditor
              rules={route.rules ?? {}}
              readOnly={readOnly}
              onChange={(rules, group) => put(index, { rules }, group && `${index}-${group}`)}
            />
          ) : (
            <ExpressionInput
              bare
              label={`Expression of ${route.label ?? route.id}`}
              value={route.expression}
              disabled={readOnly}
              onChange={(expression) => put(index, { expression }, `expression-${index}`)}
            />
          )}
        </div>
      ))}
      {!readOnly && (
        <div>
          <Button
            size="sm"
            icon={<Plus />}
            disabledReason={routes.length >= 20 ? 'A router has at most 20 routes.' : undefined}
            onClick={add}
          >
            Add route
          </Button>
        </div>
      )}
    </>
  );
}

function DelayFields() {
  const { config, set, readOnly } = useConfig();
  const until = config.until !== undefined;
  return (
    <>
      <Segmented
        label="Kind of delay"
        value={until ? 'until' : 'for'}
        onValueChange={(kind) =>
          readOnly ||
          set(kind === 'until' ? { amount: undefined, unit: undefined, until: '' } : { until: undefined, amount: 5, unit: 'minutes' })
        }
        options={[
          { value: 'for', label: 'For a while' },
          { value: 'until', label: 'Until a time' },
        ]}
      />
      {until ? (
        <TextRow name="until" label="Until" required placeholder="{{trigger.data.starts_at}}" />
      ) : (
        <div className="grid grid-cols-2 gap-2">
          <NumberRow name="amount" label="Amount" />
          <SelectRow name="unit" label="Unit" options={['seconds', 'minutes', 'hours', 'days'].map((value) => ({ value, label: value }))} />
        </div>
      )}
      <p className="text-ink-3 text-xs">One second to 30 days. Waiting holds nothing up and is no part of the timeout.</p>
    </>
  );
}

function HandlerFields({ doc, id }: { doc: Document; id: string }) {
  const { config, set, readOnly } = useConfig();
  const steps = doc.nodes.filter((step) => step.id !== id && step.id !== TRIGGER_ID && step.type !== 'error_handler');
  return (
    <>
      <SelectRow
        name="scope"
        label="Catches errors of"
        options={[
          { value: 'workflow', label: 'Any step' },
          { value: 'node', label: 'Certain steps' },
        ]}
      />
      {config.scope === 'node' && (
        <Field label="Steps" required>
          <MultiCombobox
            disabled={readOnly}
            options={steps.map((step) => ({ value: step.id, label: step.name ?? step.id }))}
            values={(Array.isArray(config.catch) ? config.catch : []) as string[]}
            onValuesChange={(ids) => set({ catch: ids })}
          />
        </Field>
      )}
      <CheckRow
        name="recover"
        label="The run has then succeeded"
        description="Otherwise the run has failed once the handler is through. Set it on the last step of the handler."
      />
    </>
  );
}

function CodeFields() {
  const { config, set, readOnly } = useConfig();
  return (
    <>
      <Callout tone="warn" title="Code blocks cannot run yet">
        An empty block passes its input on. With code in it the workflow can’t be published.
      </Callout>
      <Field label="Code" optional>
        <Textarea
          mono
          rows={6}
          value={textOf(config.code)}
          disabled={readOnly}
          onChange={({ target }) => set({ code: target.value }, 'code')}
        />
      </Field>
    </>
  );
}
