'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { BodyEditor } from './body-editor.tsx';
import type { Config } from './config-draft.ts';
import { ForwardingCard, UpstreamCard } from './forwarding-cards.tsx';
import { InjectionEditor } from './injection-editor.tsx';
import { InterceptionCard } from './interception-card.tsx';
import { MethodSettings } from './method-settings.tsx';
import { PayloadsCard } from './payloads-card.tsx';
import type { RouteDetailData } from './route-data.ts';
import { VIEWS } from './route-tabs.ts';
import { Setting } from './setting.tsx';
import { UpstreamAuthCard } from './upstream-auth-card.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

const DifferencesTab = lazyTab(() => import('./differences-tab.tsx').then((module) => module.DifferencesTab));
const JsonTab = lazyTab(() => import('./json-tab.tsx').then((module) => module.JsonTab));

export type ConfigTabProps = {
  editor: ConfigEditor;
  route: RouteDetailData;
  base: Config;
  colors: ReadonlyMap<string, string>;
  onEnvironment: (name: string) => void;
};

/** The configuration of one environment as a form, as JSON, or compared with the base. */
export function ConfigTab({ editor, route, base, colors, onEnvironment }: ConfigTabProps) {
  const [view, setView] = useQueryState('view', parseAsStringLiteral(VIEWS).withDefault('form'));
  return (
    <>
      <div>
        <Segmented
          label="View"
          size="sm"
          options={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
            { value: 'differences', label: 'Differences' },
          ]}
          value={view}
          onValueChange={(next) => void setView(next)}
        />
      </div>
      {view === 'form' && <ConfigForm editor={editor} route={route} />}
      {view === 'json' && <JsonTab editor={editor} base={base} />}
      {view === 'differences' && <DifferencesTab route={route} editor={editor} colors={colors} onEnvironment={onEnvironment} />}
    </>
  );
}

function ConfigForm({ editor, route }: { editor: ConfigEditor; route: RouteDetailData }) {
  return (
    <>
      <UpstreamCard editor={editor} />
      <SectionCard
        title="Injection"
        description="Added to every call, and replaces what the caller sends under the same name. Values can use secrets, {{var:key}} and {{request_id}}."
      >
        <div className="flex flex-col gap-6">
          <Setting editor={editor} field="inject_headers_json" label="Headers" group>
            {({ value, set, disabled }) => (
              <InjectionEditor
                kind="header"
                value={value}
                onChange={set}
                disabled={disabled}
                environment={editor.env}
                routeName={route.name}
                errors={editor.below('inject_headers_json')}
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="inject_query_json"
            label="Query parameters"
            group
            hint="Injected parameters don’t appear in logs."
          >
            {({ value, set, disabled }) => (
              <InjectionEditor
                kind="query"
                value={value}
                onChange={set}
                disabled={disabled}
                environment={editor.env}
                routeName={route.name}
                errors={editor.below('inject_query_json')}
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="inject_body_json"
            label="Body"
            hint="Merged into JSON and form bodies of POST, PUT and PATCH. Other body types are refused with 415."
          >
            {({ value, set, disabled }) => (
              <BodyEditor value={value} onChange={set} disabled={disabled} environment={editor.env} routeName={route.name} />
            )}
          </Setting>
        </div>
      </SectionCard>
      <UpstreamAuthCard editor={editor} />
      <ForwardingCard editor={editor} />
      <InterceptionCard editor={editor} route={route} />
      <PayloadsCard editor={editor} />
      <SectionCard title="Method overrides" description="Headers, body, limits and timeout for single methods.">
        <MethodSettings editor={editor} />
      </SectionCard>
    </>
  );
}
