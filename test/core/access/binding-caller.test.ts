import { describe, expect, it } from "vitest";
import { keyRefusal } from "../../../src/access/api-keys.ts";
import { parseBindingCaller } from "../../../src/access/binding-caller.ts";

const orders = {
  name: "orders",
  secret: "",
  rights: { methods: ["publish"], channels: ["room:*"] },
};

describe("who calls by a service binding", () => {
  it.each([[undefined], [null], [{}], [Object.create(null)]])(
    "[OW5] may do everything without props: %o",
    (props) => {
      expect(parseBindingCaller(props, [orders]).rights).toBeUndefined();
    },
  );

  it("[OW5] has the rights of the key with its name", () => {
    const caller = parseBindingCaller({ name: "orders" }, [orders]);
    expect(caller).toEqual({ name: "orders", rights: orders.rights });
  });

  it.each([
    [{ name: "another" }],
    [{ name: "" }],
    [{ name: "Orders" }],
    [{ name: 1 }],
    [{ name: undefined }],
    [{ name: ["orders"] }],
    [{ Name: "orders" }],
    [{ key: "orders" }],
    [{ name: "orders", channels: ["room:1"] }],
    [{ [Symbol("name")]: "orders" }],
    ["orders"],
    [""],
    [["orders"]],
    [[]],
    [0],
    [false],
    [() => "orders"],
  ])("[OW5] may do nothing with the props %o", (props) => {
    const caller = parseBindingCaller(props, [orders]);
    expect(caller.rights).toEqual({ methods: [], channels: [] });
    expect(keyRefusal(caller, "publish", "room:1")).toMatch(
      /^the binding.*, and doesn't admit the method publish$/,
    );
  });
});
