/**
 * JSON in which a double or an object would lose something, on its way through a plane: digits, ranges, spellings, names that a careless copy drops, and
 * names that an engine or a column would put elsewhere.
 */
export const HOSTILE_JSON =
  '{"id":7615917337495251231,"price":1.10,"huge":1e400,"zero":-0,"exp":1E2,"deep":[[0.10,{"n":3.141592653589793238}]],"__proto__":{"admin":18446744073709551616},"constructor":1.0,"20":{"longer":1,"b":2,"1":3},"3":2}';
