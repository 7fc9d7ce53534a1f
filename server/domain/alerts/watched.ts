import type { AlertState, AlertType, Condition, Severity } from './conditions.shared.ts';

/** An alert as the evaluation reads it. */
export type Watched = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  type: AlertType;
  condition: Condition;
  route_ids: string[];
  environments: string[];
  severity: Severity;
  cooldown_minutes: number;
  channel_ids: string[];
  muted_until: Date | null;
  state: AlertState;
  watching_since: Date;
};

/** What one alert is about at one moment: a route, a secret, or everything (an empty key). */
export type Group = {
  key: string;
  /** Absent for routes, whose names are read when one is told of. */
  subject?: string | null;
  route_id?: string | null;
  value: number;
  holds: boolean;
};

/** `data` is false when there was nothing to measure. */
export type Finding = { groups: Group[]; data: boolean };
export type Findings = Map<string, Finding>;

export const MINUTE = 60_000;
/** The minute that a moment lies in, counted from the epoch. */
export const minuteOf = (at: Date): number => Math.floor(at.getTime() / MINUTE);
export const dateOf = (minute: number): Date => new Date(minute * MINUTE);
