// Whether one token was in two places that nobody can travel between in that time (interface rule 50 §9).

/** Where and when a token was used; `radius_km` is how exactly the place is known. */
export type Sighting = {
  readonly lat: number;
  readonly lon: number;
  readonly radius_km: number;
  readonly country: string | null;
  /** ISO 8601 */
  readonly at: string;
  readonly ip: string;
};

const LEAST_KM = 500;
const MOST_KMH = 1_000;
/** A place that is known less exactly says nothing. */
const MOST_RADIUS_KM = 200;
/** Two uses within a minute count as a minute apart. */
const LEAST_HOURS = 1 / 60;
const EARTH_KM = 6_371;

/** Great-circle distance in km. */
export function distanceKm(a: Pick<Sighting, 'lat' | 'lon'>, b: Pick<Sighting, 'lat' | 'lon'>): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const [dLat, dLon] = [radians(b.lat - a.lat), radians(b.lon - a.lon)];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** How far and how fast the token would have travelled, when nothing can; null otherwise. `isTrusted`: addresses whose changes of place say nothing. */
export function impossibleTravel(
  before: Sighting,
  now: Sighting,
  isTrusted: (ip: string) => boolean,
): { distance_km: number; speed_kmh: number } | null {
  if (before.radius_km > MOST_RADIUS_KM || now.radius_km > MOST_RADIUS_KM) return null;
  const distance = distanceKm(before, now);
  const hours = Math.abs(Date.parse(now.at) - Date.parse(before.at)) / 3_600_000;
  const speed = distance / Math.max(hours, LEAST_HOURS);
  if (!(distance >= LEAST_KM && speed > MOST_KMH) || isTrusted(before.ip) || isTrusted(now.ip)) return null;
  return { distance_km: Math.round(distance), speed_kmh: Math.round(speed) };
}

/** A stored sighting; null for what is none. */
export function sightingOf(stored: unknown): Sighting | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { lat, lon, radius_km, at, ip, country } = stored as Record<string, unknown>;
  if (![lat, lon, radius_km].every((n) => typeof n === 'number' && Number.isFinite(n))) return null;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof ip !== 'string') return null;
  return {
    lat: lat as number,
    lon: lon as number,
    radius_km: radius_km as number,
    at,
    ip,
    country: typeof country === 'string' ? country : null,
  };
}
