import { ValueType } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData, type MetricProducer } from '@opentelemetry/sdk-metrics';
import { allMeters, type Meter } from './meters.ts';

const SCOPE = { name: 'sallyport' };
type Instant = [number, number];
const instant = (ms: number): Instant => [Math.floor(ms / 1_000), Math.floor((ms % 1_000) * 1e6)];

/**
 * Everything the process counts as a source for OpenTelemetry's readers, Prometheus and OTLP alike. A meter that can't be read (the database is away) is
 * left out and told in `errors`; the others are answered all the same.
 */
export function meterProducer(): MetricProducer {
  const startTime = instant(performance.timeOrigin);
  return {
    async collect() {
      const endTime = instant(Date.now());
      const errors: unknown[] = [];
      const read = async (meter: Meter) => dataOf(meter, startTime, endTime).catch((error: unknown) => void errors.push(error));
      const metrics = (await Promise.all(allMeters().map(read))).filter((data) => data !== undefined);
      return { resourceMetrics: { resource: resourceFromAttributes({}), scopeMetrics: [{ scope: SCOPE, metrics }] }, errors };
    },
  };
}

async function dataOf(meter: Meter, startTime: Instant, endTime: Instant): Promise<MetricData> {
  const descriptor = { name: meter.name, description: meter.help, unit: meter.unit ?? '', valueType: ValueType.DOUBLE };
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const point = { startTime, endTime };
  if (meter.kind === 'histogram') {
    const dataPoints = meter.read().map(({ labels, counts, sum }) => {
      const buckets = { boundaries: [...meter.bounds], counts: [...counts] };
      return { ...point, attributes: labels, value: { buckets, sum, count: counts.reduce((all, n) => all + n, 0) } };
    });
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = (await meter.read()).map(({ labels, value }) => ({ ...point, attributes: labels, value }));
  return meter.kind === 'gauge'
    ? { ...shared, dataPointType: DataPointType.GAUGE, dataPoints }
    : { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}
