'use client';

import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { EVENT_TYPES, type EventType } from '#server/domain/events/catalogue.shared.ts';
import { AUTH, type Detail, FORMATS } from './webhook-labels.ts';

const DeliveryCharts = lazyTab(() => import('./delivery-charts.tsx').then((module) => module.DeliveryCharts));

/** The figures and settings of a webhook. */
export function WebhookOverview({ webhook }: { webhook: Detail }) {
  const finished = webhook.success_count + webhook.failure_count;
  return (
    <Split
      side={
        <SectionCard title="Details">
          <KeyValueList
            items={[
              { label: 'URL', value: <span className="break-all font-mono text-xs">{webhook.url}</span> },
              { label: 'Method', value: webhook.method },
              { label: 'Authentication', value: AUTH[webhook.auth_type] },
              { label: 'Further headers', value: webhook.has_request_headers ? 'Set' : 'None' },
              { label: 'Signature', value: FORMATS[webhook.hmac_format].label, hint: FORMATS[webhook.hmac_format].about },
              { label: 'Timeout', value: counted(webhook.timeout_seconds, 'second') },
              { label: 'Retries', value: webhook.retry_on_failure ? webhook.max_retries : 'Off' },
              ...(webhook.route_filter === null ? [] : [{ label: 'Routes', value: counted(webhook.route_filter.length, 'route') }]),
              ...(webhook.filters.status_codes?.length ? [{ label: 'Status codes', value: webhook.filters.status_codes.join(', ') }] : []),
              ...(webhook.filters.methods?.length ? [{ label: 'Methods', value: webhook.filters.methods.join(', ') }] : []),
              ...(webhook.filters.environments?.length ? [{ label: 'Environments', value: webhook.filters.environments.join(', ') }] : []),
              ...(webhook.filters.audit?.length ? [{ label: 'Audit entries', value: webhook.filters.audit.join(', ') }] : []),
              { label: 'Created', value: <Time value={webhook.created_at} format="datetime" /> },
            ]}
          />
        </SectionCard>
      }
    >
      {webhook.dropped > 0 && (
        <Callout tone="bad" title={`${counted(webhook.dropped, 'event')} dropped`}>
          50,000 deliveries were waiting for this receiver, so further events were not queued.
        </Callout>
      )}
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Stat label="Deliveries" value={grouped(webhook.trigger_count)} />
        <Stat label="Delivered" value={finished === 0 ? '—' : `${((webhook.success_count / finished) * 100).toFixed(1)}%`} />
        <Stat label="Failed" value={grouped(webhook.failure_count)} href="?tab=deliveries&success=false" />
        <Stat label="Waiting" value={grouped(webhook.pending)} />
      </div>
      <DeliveryCharts webhook={webhook} />
      <SectionCard title="Events" description="Sent to this webhook as they happen.">
        <ul className="flex flex-col gap-2">
          {webhook.event_types.map((type) => (
            <li key={type} className="flex flex-wrap items-baseline gap-x-2">
              <Badge mono>{type}</Badge>
              <span className="text-ink-3 text-xs">{EVENT_TYPES[type as EventType]}</span>
            </li>
          ))}
        </ul>
      </SectionCard>
      <SectionCard title="Last deliveries">
        <KeyValueList
          items={[
            { label: 'Last delivery', value: <Time value={webhook.last_triggered_at} empty="Never" /> },
            { label: 'Last success', value: <Time value={webhook.last_success_at} empty="Never" /> },
            { label: 'Last failure', value: <Time value={webhook.last_failure_at} empty="Never" /> },
          ]}
        />
      </SectionCard>
    </Split>
  );
}
