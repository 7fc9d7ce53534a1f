'use client';

import { CornerUpLeft } from 'lucide-react';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import type { ConfigField } from './config-draft.ts';
import { DifferencesTable } from './differences-table.tsx';
import type { RouteDetailData } from './route-data.ts';
import { labelOf } from './setting-labels.ts';
import { SettingValue } from './setting-value.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

export type DifferencesTabProps = {
  route: RouteDetailData;
  editor: ConfigEditor;
  colors: ReadonlyMap<string, string>;
  onEnvironment: (name: string) => void;
};

/** What an environment says for itself, beside what the base says. One field at a time goes back to the base. */
export function DifferencesTab({ route, editor, colors, onEnvironment }: DifferencesTabProps) {
  const base = route.environments.find((one) => one.environment_name === editor.baseName);
  const label = useEnvironmentLabel();
  if (!base) return null;
  if (editor.isBase) return <Overview route={route} colors={colors} onEnvironment={onEnvironment} />;
  const [env, baseName] = [label(editor.env), label(editor.baseName)];
  const fields = editor.config.overridden_fields.filter((field): field is ConfigField => field in base && field !== 'enabled');
  return (
    <SectionCard title={`${env} compared with ${baseName}`} description={`All other settings are inherited from ${baseName}.`}>
      {fields.length === 0 ? (
        <p className="text-ink-3">No differences. All settings are inherited from {baseName}.</p>
      ) : (
        <DifferencesTable
          caption={`Settings in ${env} that differ from the base`}
          from={baseName}
          to={env}
          actions
          rows={fields.map((field) => {
            const reverted = editor.draft[field] === null;
            const equal = JSON.stringify(base[field]) === JSON.stringify(editor.value(field));
            return {
              key: field,
              label: (
                <>
                  {labelOf(field)} {reverted && <Badge tone="accent">Unsaved</Badge>}
                  {equal && !reverted && <Badge>Same value</Badge>}
                </>
              ),
              from: <SettingValue value={base[field]} />,
              to: (
                <>
                  <SettingValue value={editor.value(field)} />
                  <Revert editor={editor} field={field} className="mt-1 -ml-2 flex sm:hidden" />
                </>
              ),
              action: <Revert editor={editor} field={field} />,
            };
          })}
        />
      )}
    </SectionCard>
  );
}

function Revert({ editor, field, className }: { editor: ConfigEditor; field: ConfigField; className?: string }) {
  return (
    <Button
      size="sm"
      variant="ghost"
      icon={<CornerUpLeft />}
      aria-label={`Revert to ${useEnvironmentLabel()(editor.baseName)}: ${labelOf(field)}`}
      disabledReason={editor.readOnly ?? (editor.draft[field] === null ? 'Save to revert' : undefined)}
      onClick={() => editor.revert(field)}
      {...(className ? { className } : {})}
    >
      Revert
    </Button>
  );
}

/** On the base: how many settings each environment keeps for itself, and the way there. */
function Overview({ route, colors, onEnvironment }: Omit<DifferencesTabProps, 'editor'>) {
  const label = useEnvironmentLabel();
  const baseName = route.base_environment ? label(route.base_environment) : 'the base';
  const others = route.environments.filter((one) => one.environment_name !== route.base_environment);
  if (others.length === 0)
    return (
      <Callout title="Only one environment is configured">
        To add another, select it above. It inherits everything from {baseName} until you override it.
      </Callout>
    );
  return (
    <SectionCard title="Overrides by environment" description={`All other settings are inherited from ${baseName}.`}>
      <ul className="flex flex-col">
        {others.map(({ environment_name: name, overridden_fields }) => {
          const fields = overridden_fields.filter((field) => field !== 'enabled');
          return (
            <li key={name} className="flex flex-wrap items-center gap-3 border-line border-b py-2 last:border-b-0">
              <EnvironmentDot name={name} color={colors.get(name) ?? ''} />
              <span className="min-w-0 flex-1 text-ink-2 max-sm:order-last max-sm:basis-full">
                {fields.length === 0 ? 'No overrides' : fields.map((field) => labelOf(field)).join(', ')}
              </span>
              <Button size="sm" className="max-sm:ml-auto" onClick={() => onEnvironment(name)}>
                Compare {name}
              </Button>
            </li>
          );
        })}
      </ul>
    </SectionCard>
  );
}
