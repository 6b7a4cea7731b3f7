"""What an extension module needs and shows, as JSON; run by scripts/wheel.

    python module_facts.py MODULE

"needs" are the libraries, "exports" the symbols that others can see, "system" the
oldest glibc or macOS, "" where neither says it.  "imports" are the symbols that macOS
looks for, which its linker does not; [] elsewhere.  Needs pyelftools and pefile.
"""

import json
import re
import struct
import sys


def of_elf(path):
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        elf = ELFFile(file)
        dynamic = elf.get_section_by_name(".dynamic")
        needs = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
        exports = [
            symbol.name
            for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name
        ]
        versions = [(0,)]
        section = elf.get_section_by_name(".gnu.version_r")
        for _, auxiliaries in section.iter_versions() if section else ():
            for auxiliary in auxiliaries:
                found = re.fullmatch(r"GLIBC_([\d.]+)", auxiliary.name)
                if found:
                    versions.append(tuple(map(int, found[1].split("."))))
    newest = max(versions)
    return needs, exports, "" if newest == (0,) else ".".join(map(str, newest)), []


def of_pe(path):
    import pefile

    pe = pefile.PE(path)
    needs = [entry.dll.decode() for entry in pe.DIRECTORY_ENTRY_IMPORT]
    exports = [entry.name.decode() for entry in pe.DIRECTORY_ENTRY_EXPORT.symbols]
    return needs, exports, "", []


def of_macho(path):
    with open(path, "rb") as file:
        data = file.read()
    count, at = struct.unpack_from("<I", data, 16)[0], 32
    needs, exports, system, imports = [], [], "", []
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command & 0x7FFFFFFF in (0x0C, 0x18, 0x1F):  # LC_LOAD_DYLIB and its like
            start = at + struct.unpack_from("<I", data, at + 8)[0]
            needs.append(data[start : data.index(b"\0", start)].decode())
        elif command == 0x32:  # LC_BUILD_VERSION
            number = struct.unpack_from("<I", data, at + 12)[0]
            system = f"{number >> 16}.{number >> 8 & 255}"
        elif command == 0x02:  # LC_SYMTAB
            table, symbols, names = struct.unpack_from("<III", data, at + 8)
            for i in range(symbols):
                name, kind = struct.unpack_from("<IB", data, table + 16 * i)
                start = names + name
                text = data[start : data.index(b"\0", start)].decode()
                # External; defined, and not private to the image, or not.
                if kind & 0x0F == 0x01:
                    imports.append(text)
                elif kind & 0x01 and kind & 0x0E and not kind & 0x10:
                    exports.append(text.removeprefix("_"))
        at += size
    return needs, exports, system, imports


def main():
    path = sys.argv[1]
    with open(path, "rb") as file:
        magic = file.read(4)
    of = {b"\x7fELF": of_elf, b"MZ": of_pe, b"\xcf\xfa\xed\xfe": of_macho}
    needs, exports, system, imports = next(
        function for start, function in of.items() if magic.startswith(start)
    )(path)
    print(
        json.dumps(
            {
                "needs": sorted(set(needs)),
                "exports": sorted(exports),
                "system": system,
                "imports": sorted(imports),
            }
        )
    )


main()
