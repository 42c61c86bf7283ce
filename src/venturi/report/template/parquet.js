// A Parquet file of some columns: one row group, plain pages, nothing compressed
// (https://parquet.apache.org/docs/file-format; the footer is Thrift's compact protocol).
const parquetOf = (() => {
  const I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12;
  const DOUBLE = 5, BYTE_ARRAY = 6;
  const PLAIN = 0, RLE = 3, UTF8 = 0, REQUIRED = 0;
  const text = new TextEncoder();

  const varint = (value) => {
    const found = [];
    for (; value >= 128; value = Math.floor(value / 128)) found.push((value % 128) | 128);
    return [...found, value];
  };
  const integer = (type) => (value) => [type, varint(2 * value)];
  const i32 = integer(I32), i64 = integer(I64);
  const binary = (value) => {
    const bytes = text.encode(value);
    return [BINARY, [...varint(bytes.length), ...bytes]];
  };
  const list = (type, items) => [LIST, [...(items.length < 15 ? [(items.length << 4) | type]
    : [0xf0 | type, ...varint(items.length)]), ...items.flatMap(([, bytes]) => bytes)]];
  const struct = (fields) => {
    const found = [];
    let last = 0;
    for (const [id, [type, bytes]] of fields) {
      found.push(((id - last) << 4) | type, ...bytes);
      last = id;
    }
    return [STRUCT, [...found, 0]];
  };

  const isText = (values) => values.some((value) => typeof value !== "number");
  function plain(values) {
    if (!isText(values)) return new Uint8Array(Float64Array.from(values).buffer);
    const parts = values.map((value) => text.encode(String(value)));
    const found = new Uint8Array(parts.reduce((size, part) => size + 4 + part.length, 0));
    const view = new DataView(found.buffer);
    let at = 0;
    for (const part of parts) {
      view.setUint32(at, part.length, true);
      found.set(part, at + 4);
      at += 4 + part.length;
    }
    return found;
  }
  const elementOf = ([name, values]) => struct([[1, i32(isText(values) ? BYTE_ARRAY : DOUBLE)],
    [3, i32(REQUIRED)], [4, binary(name)], ...(isText(values) ? [[6, i32(UTF8)]] : [])]);

  // Columns as a map from names to values, as many in each: numbers where all are, else texts.
  return (columns) => {
    const rows = columns.size ? [...columns.values()][0].length : 0;
    const parts = [text.encode("PAR1")], chunks = [];
    let at = 4;
    for (const [name, values] of columns) {
      const page = plain(values);
      const head = Uint8Array.from(struct([[1, i32(0)], [2, i32(page.length)], [3, i32(page.length)],
        [5, struct([[1, i32(rows)], [2, i32(PLAIN)], [3, i32(RLE)], [4, i32(RLE)]])]])[1]);
      const size = head.length + page.length;
      const meta = struct([[1, i32(isText(values) ? BYTE_ARRAY : DOUBLE)],
        [2, list(I32, [i32(PLAIN), i32(RLE)])], [3, list(BINARY, [binary(name)])], [4, i32(0)],
        [5, i64(rows)], [6, i64(size)], [7, i64(size)], [9, i64(at)]]);
      chunks.push([size, struct([[2, i64(at)], [3, meta]])]);
      parts.push(head, page);
      at += size;
    }
    const group = struct([[1, list(STRUCT, chunks.map(([, chunk]) => chunk))],
      [2, i64(chunks.reduce((total, [size]) => total + size, 0))], [3, i64(rows)]]);
    const root = struct([[4, binary("schema")], [5, i32(columns.size)]]);
    const footer = Uint8Array.from(struct([[1, i32(1)],
      [2, list(STRUCT, [root, ...[...columns].map(elementOf)])], [3, i64(rows)],
      [4, list(STRUCT, rows ? [group] : [])], [6, binary("Venturi")]])[1]);
    const end = new Uint8Array(8);
    new DataView(end.buffer).setUint32(0, footer.length, true);
    end.set(text.encode("PAR1"), 4);
    return new Blob([...parts, footer, end], { type: "application/vnd.apache.parquet" });
  };
})();
