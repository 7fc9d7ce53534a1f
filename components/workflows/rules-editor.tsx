'use client';

import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Select } from '#components/ui/select.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { OPERATORS, UNARY } from '#server/domain/workflows/expressions/rules.shared.ts';
import { textOf } from './config-rows.tsx';
import { ExpressionInput } from './expression-input.tsx';

type Rule = { left?: unknown; operator?: string; right?: unknown };
export type Rules = { combinator?: 'and' | 'or'; rules?: readonly Rule[] };
export const EMPTY_RULE: Rule = { left: '', operator: 'equals', right: '' };

const LABELS: Partial<Record<string, string>> = {
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  equals: 'equals',
  not_equals: 'does not equal',
  not_contains: 'does not contain',
  not_exists: 'does not exist',
  in: 'is one of',
  matches: 'matches the pattern',
};
const OPTIONS = OPERATORS.map((value) => ({ value, label: LABELS[value] ?? value.replaceAll('_', ' ') }));

/** A list of comparisons that all, or one of which, must hold. */
export function RulesEditor({
  rules,
  onChange,
  readOnly,
}: {
  rules: Rules;
  onChange: (rules: Rules, group?: string) => void;
  readOnly: boolean;
}) {
  const list = rules.rules ?? [];
  const put = (index: number, change: Partial<Rule>, group?: string) =>
    onChange({ ...rules, rules: list.map((rule, at) => (at === index ? { ...rule, ...change } : rule)) }, group);
  return (
    <div className="flex flex-col gap-2">
      {list.length > 1 && (
        <Segmented
          size="sm"
          label="How the rules are joined"
          value={rules.combinator ?? 'and'}
          onValueChange={(combinator) => readOnly || onChange({ ...rules, combinator })}
          options={[
            { value: 'and', label: 'All must hold' },
            { value: 'or', label: 'One must hold' },
          ]}
        />
      )}
      {list.map((rule, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity but their place.
        <div key={index} className="flex flex-col gap-1 rounded-md border border-line p-1.5">
          <div className="flex items-start gap-1">
            <ExpressionInput
              label={`Left side of rule ${index + 1}`}
              placeholder="{{trigger.data.status}}"
              value={textOf(rule.left)}
              disabled={readOnly}
              onChange={(left) => put(index, { left }, `left-${index}`)}
            />
            {list.length > 1 && (
              <IconButton
                size="sm"
                label={`Remove rule ${index + 1}`}
                icon={<Trash2 />}
                disabled={readOnly}
                onClick={() => onChange({ ...rules, rules: list.filter((_, at) => at !== index) })}
              />
            )}
          </div>
          <Select
            size="sm"
            label={`Comparison of rule ${index + 1}`}
            value={(rule.operator ?? 'equals') as (typeof OPERATORS)[number]}
            options={OPTIONS}
            disabled={readOnly}
            onValueChange={(operator) => put(index, { operator })}
          />
          {!UNARY.has(rule.operator ?? '') && (
            <ExpressionInput
              label={`Right side of rule ${index + 1}`}
              placeholder="500"
              value={textOf(rule.right)}
              disabled={readOnly}
              onChange={(right) => put(index, { right }, `right-${index}`)}
            />
          )}
        </div>
      ))}
      {!readOnly && (
        <div>
          <Button size="sm" variant="ghost" icon={<Plus />} onClick={() => onChange({ ...rules, rules: [...list, EMPTY_RULE] })}>
            Add rule
          </Button>
        </div>
      )}
    </div>
  );
}
