/** The package declares its wrapper only; this is the WASM module below it. */
declare module 'libpg-query/wasm/libpg-query.js' {
  const createInstance: () => Promise<unknown>;
  export default createInstance;
}
